#!/bin/sh
# Send requests to each operation of a running service and check the responses: for cron, or wallet-api-smoke.timer.
# Print nothing and exit with 0 if all checks pass; otherwise print one line for each failure and exit with 1.
# Costs about thirty credits. Needs curl.
#
#   WALLET_API_URL            default http://127.0.0.1:8000
#   WALLET_API_KEY            an API key for this check; or
#   WALLET_API_KEY_FILE       a file that contains it
#   SMOKE_BLOCKCHAIN          default solana; with SMOKE_TYPE, a group with wallets and trades
#   SMOKE_TYPE                default kol
#   SMOKE_MAX_AGE_SECONDS     default 86400: maximum age of the group's newest trade, up to a day; 0 disables the check
#   SMOKE_HOLDINGS            default yes; no if no provider of balances is configured
#   SMOKE_CA_FILE             CA certificates to trust, if those of the system are not enough
set -u
LC_ALL=C
export LC_ALL

url=${WALLET_API_URL:-http://127.0.0.1:8000}
url=${url%/}
blockchain=${SMOKE_BLOCKCHAIN:-solana}
type=${SMOKE_TYPE:-kol}
max_age=${SMOKE_MAX_AGE_SECONDS:-86400}
holdings=${SMOKE_HOLDINGS:-yes}
group="blockchain=$blockchain&type=$type"

key=${WALLET_API_KEY:-}
if [ -z "$key" ] && [ -n "${WALLET_API_KEY_FILE:-}" ]; then
    if [ ! -r "$WALLET_API_KEY_FILE" ]; then
        echo "key: $WALLET_API_KEY_FILE cannot be read"
        exit 1
    fi
    # At the end of the file, read fails but still reads a line without a line end.
    read -r key <"$WALLET_API_KEY_FILE" || :
fi
if [ -z "$key" ]; then
    echo "key: set WALLET_API_KEY or WALLET_API_KEY_FILE"
    exit 1
fi
command -v curl >/dev/null || { echo "curl: is not installed"; exit 1; }

umask 077
work=$(mktemp -d) || { echo "mktemp: no temporary folder can be made"; exit 1; }
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
: >"$work/faults"

fault() {
    printf '%s\n' "$1" >>"$work/faults"
}

# Print one line for each value: its path, a tab, and the value as JSON. Exit with 1 if the input is not JSON.
cat >"$work/flat.awk" <<'AWK'
function fail() { bad = 1; exit 1 }
function skip() { while (substr(text, at, 1) ~ /[ \t\r\n]/ && at <= size) at++ }
function string(   start) {
    start = at++
    while (at <= size) {
        c = substr(text, at, 1)
        if (c == "\\") at += 2
        else if (c == "\"") { at++; return substr(text, start, at - start) }
        else at++
    }
    fail()
}
function value(path,   c, name, number, start) {
    skip()
    c = substr(text, at, 1)
    if (c == "{") {
        at++; skip()
        if (substr(text, at, 1) == "}") { at++; return }
        while (1) {
            skip()
            if (substr(text, at, 1) != "\"") fail()
            name = string(); skip()
            if (substr(text, at++, 1) != ":") fail()
            value(path "." substr(name, 2, length(name) - 2)); skip()
            c = substr(text, at++, 1)
            if (c == "}") return
            if (c != ",") fail()
        }
    }
    if (c == "[") {
        at++; skip(); number = 0
        if (substr(text, at, 1) == "]") { at++; print path "#\t0"; return }
        while (1) {
            value(path "." number++); skip()
            c = substr(text, at++, 1)
            if (c == "]") { print path "#\t" number; return }
            if (c != ",") fail()
        }
    }
    if (c == "\"") { print path "\t" string(); return }
    start = at
    while (at <= size && substr(text, at, 1) ~ /[-+.0-9a-zA-Z]/) at++
    c = substr(text, start, at - start)
    if (c !~ /^(true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?)$/) fail()
    print path "\t" c
}
{ text = text $0 "\n" }
END {
    if (bad) exit 1
    size = length(text); at = 1
    value(""); skip()
    exit at <= size
}
AWK

# ask NAME PATH STATUS [without|bare]: write the response to $work/NAME, and its values to $work/NAME.flat. `without`
# sends no key; `bare` neither, and expects no envelope.
ask() {
    name=$1
    {
        [ $# -gt 3 ] || printf 'header = "Authorization: Bearer %s"\n' "$key"
        [ -z "${SMOKE_CA_FILE:-}" ] || printf 'cacert = "%s"\n' "$SMOKE_CA_FILE"
    } >"$work/curl"
    # The key is passed on standard input, since any user of the machine can read the arguments of processes.
    status=$(curl --config - --silent --show-error --max-time 30 --output "$work/$name" \
        --write-out '%{http_code}' "$url$2" <"$work/curl" 2>"$work/trouble")
    if [ "$status" = 000 ] || [ -z "$status" ]; then
        fault "$name: no answer from $url: $(head -n 1 "$work/trouble")"
        return 1
    fi
    if ! awk -f "$work/flat.awk" "$work/$name" >"$work/$name.flat" 2>/dev/null; then
        fault "$name: the answer, of status $status, is not JSON"
        return 1
    fi
    if [ "${4:-}" = bare ]; then
        [ "$status" = "$3" ] || fault "$name: status $status in place of $3"
        [ "$status" = "$3" ]
        return
    fi
    for part in request_id cached cache_age_seconds version timestamp; do
        [ -n "$(get "$name" ".meta.$part")" ] || fault "$name: meta has no $part"
    done
    if [ "$status" != "$3" ]; then
        fault "$name: status $status in place of $3: $(get "$name" .error.message) ($(get "$name" .meta.request_id))"
        return 1
    fi
    expected=false
    [ "$status" != 200 ] || expected=true
    same "$name" "success" "$(get "$name" .success)" "$expected"
}

# get NAME PATH: print a value, strings without quotes.
get() {
    awk -F '\t' -v path="$2" '$1 == path { gsub(/^"|"$/, "", $2); print $2; exit }' "$work/$1.flat"
}

# all NAME PATTERN: print all values whose path matches.
all() {
    awk -F '\t' -v pattern="^$2\$" '$1 ~ pattern { gsub(/^"|"$/, "", $2); print $2 }' "$work/$1.flat"
}

total() {
    awk '{ sum += $1 } END { printf "%d\n", sum }'
}

same() {
    [ "$3" = "$4" ] || fault "$1: $2 is ${3:-missing} in place of ${4:-something}"
}

# holds NAME WORDS CONDITION: report WORDS unless the condition on numbers, in awk's syntax, is true.
holds() {
    awk "BEGIN { exit !($3) }" </dev/null 2>/dev/null || fault "$1: $2 ($3)"
}

if ask readyz /readyz 200 without; then
    for part in primary store; do
        state=$(get readyz ".data.$part")
        case $state in
        ok | none) ;;
        *) fault "readyz: $part is $state" ;;
        esac
    done
fi
if ! ask healthz /healthz 200 without; then
    cat "$work/faults"
    exit 1
fi
ask no_key "/v1/wallets?$group" 401 without && same no_key code "$(get no_key .error.code)" unauthorized
ask nowhere /v1/nowhere 404 && same nowhere code "$(get nowhere .error.code)" not_found
ask bad_type "/v1/wallets?blockchain=eth&type=whale" 400 &&
    same bad_type code "$(get bad_type .error.code)" invalid_parameter

address=
if ask wallets "/v1/wallets?$group" 200; then
    same wallets blockchain "$(get wallets .data.blockchain)" "$blockchain"
    same wallets type "$(get wallets .data.type)" "$type"
    same wallets "the number of wallets" "$(get wallets .data.wallets#)" "$(get wallets .data.pagination.total)"
    same wallets has_more "$(get wallets .data.pagination.has_more)" false
    all wallets '[.]data[.]wallets[.][0-9]+[.]wallet_address' >"$work/addresses"
    sort -c -u "$work/addresses" 2>/dev/null || fault "wallets: not in the order of their addresses"
    address=$(head -n 1 "$work/addresses")
    [ -n "$address" ] || fault "wallets: $blockchain $type has none"
fi

if [ -n "$address" ] && ask history "/v1/wallets/history?$group&address=$address&limit=100" 200; then
    stat() { get history ".data.lifetime_stats.$1"; }
    bucket() { get history ".data.win_rate_distribution.$1"; }
    sum() { all history "[.]data[.]token_overview[.][0-9]+[.]$1" | total; }
    same history "the address" "$(get history .data.profile.wallet_address)" "$address"
    holds history "buys and sells are not all transactions" "$(stat buy_txn) + $(stat sell_txn) == $(stat total_tx_count)"
    same history "the buys of all tokens" "$(sum buy_txn)" "$(stat buy_txn)"
    same history "the sells of all tokens" "$(sum sell_txn)" "$(stat sell_txn)"
    same history "the number of tokens" "$(get history .data.token_overview#)" "$(stat active_tokens_count)"
    same history "the number of tokens held" \
        "$(all history '[.]data[.]token_overview[.][0-9]+[.]still_holding' | grep -c true)" "$(stat still_holding_count)"
    wins="$(bucket above_500) + $(bucket above_100_to_500) + $(bucket above_zero_to_100)"
    holds history "the distribution is not all wins" "$wins == $(stat win_count)"
    holds history "the distribution is not all closed positions" "$wins + $(bucket below_zero) == $(stat total_sold)"
    holds history "the win rate is none" "0 <= $(stat win_rate) && $(stat win_rate) <= 100"
    holds history "the worst trade is above the best" "$(stat worst_trade_pnl) <= $(stat best_trade_pnl)"
    holds history "the largest buy is above all buys" "0 <= $(stat largest_buy) && $(stat largest_buy) <= $(stat buy)"
    all history '[.]data[.]trades[.][0-9]+[.]created_at' | sort -c -r 2>/dev/null ||
        fault "history: trades are not newest first"
fi

if [ -n "$address" ] && [ "$holdings" != no ]; then
    tries=0
    while ask holdings "/v1/wallets/holdings?blockchain=$blockchain&address=$address" 200 &&
        [ "$(get holdings .data.active_holdings.loading)" = true ] && [ $tries -lt 10 ]; do
        tries=$((tries + 1))
        sleep 1
    done
    if [ "$(get holdings .success)" = true ]; then
        same holdings loading "$(get holdings .data.active_holdings.loading)" false
        same holdings count "$(get holdings .data.active_holdings.count)" "$(get holdings .data.active_holdings.tokens#)"
        same holdings "the first row" "$(get holdings .data.active_holdings.tokens.0.token_address)" native
        all holdings '[.]data[.]active_holdings[.]tokens[.][0-9]+[.]amount' | grep -q -v -E '^[0-9]+$' &&
            fault "holdings: an amount is no whole number"
    fi
fi

if ask volume "/v1/transactions/volume?$group&hours=24" 200 &&
    ask hour "/v1/transactions/volume?$group&hours=1" 200 &&
    ask capped "/v1/transactions/volume?$group&hours=25" 200; then
    same volume "the window" "$(get volume .data.time_window_seconds)" 86400
    same capped "the window" "$(get capped .data.time_window_seconds)" 86400
    [ -n "$(get capped .data.warnings.0)" ] || fault "capped: no warning of the capped window"
    holds volume "an hour has more than its day" "0 <= $(get hour .data.volume) && $(get hour .data.volume) <= $(get volume .data.volume)"
fi

if ask leaderboard "/v1/wallet/leaderboard?$group&period=7d" 200; then
    all leaderboard '[.]data[.]leaderboard[.][0-9]+[.]rank' | awk '$1 != NR { exit 1 }' ||
        fault "leaderboard: ranks do not count from 1"
    all leaderboard '[.]data[.]leaderboard[.][0-9]+[.]period_stats[.]total_volume' |
        awk 'NR > 1 && $1 > before { exit 1 } { before = $1 }' || fault "leaderboard: not in the order of volume"
fi

if [ -n "$address" ]; then
    wallet="blockchain=$blockchain&address=$address"
    if ask lookup "/v1/wallets/lookup?address=$address" 200; then
        same lookup found "$(get lookup .data.found)" true
        same lookup "the address" "$(get lookup .data.wallet_address)" "$address"
        all lookup '[.]data[.]matches[.][0-9]+[.]blockchain' | grep -q -x "$blockchain" ||
            fault "lookup: $blockchain is not among the matches"
    fi
    if ask ranked "/v1/wallet/leaderboard?$group&period=all&sort=realized_pnl&address=$address" 200; then
        all ranked '[.]data[.]leaderboard[.][0-9]+[.]wallet' | grep -v -q -x "$address" &&
            fault "ranked: the entry is of another wallet than $address"
    fi
    if ask tokens "/v1/wallets/tokens?$wallet&limit=1000" 200; then
        same tokens "the address" "$(get tokens .data.wallet)" "$address"
        same tokens "the number of tokens" "$(get tokens .data.pagination.total)" "$(get history .data.token_overview#)"
    fi
    if ask tracker "/v1/wallets/tracker?$wallet&period=7d" 200; then
        stat() { get tracker ".data.period_stats.$1"; }
        same tracker "the address" "$(get tracker .data.wallet)" "$address"
        holds tracker "buys and sells are not all trades" "$(stat buy_txn) + $(stat sell_txn) == $(stat total_txn)"
        holds tracker "more tokens are held than traded" \
            "$(get tracker .data.period_active_tokens.still_holding_count) <= $(get tracker .data.period_active_tokens.active_tokens_count)"
    fi
    if ask calendar "/v1/wallet/pnl_calendar?$wallet" 200; then
        sum() { all calendar "[.]data[.]months[.][0-9]+[.]$1" | total; }
        same calendar "the address" "$(get calendar .data.wallet)" "$address"
        same calendar "the trades of all days" "$(sum 'dates[.][0-9]+[.]txn_total')" "$(sum 'month[.]txn_total')"
    fi
    if ask brief "/v1/wallets/brief?$wallet" 200; then
        same brief "the address" "$(get brief .data.profile.wallet_address)" "$address"
        holds brief "more trades in a week than ever" "$(get brief .data.week.total_txn) <= $(get brief .data.all.total_txn)"
    fi
    if ask search "/v1/search?q=$address" 200; then
        same search "the wallet" "$(get search .data.wallets.0.wallet_address)" "$address"
    fi
    traded=$(get history .data.token_overview.0.mint)
    if [ -n "$traded" ] && ask explain "/v1/wallets/explain?$wallet&mint=$traded&limit=5" 200; then
        same explain "the mint" "$(get explain .data.totals.mint)" "$traded"
    fi
    newest=$(get history .data.trades.0.created_at)
    if [ -n "$newest" ] && ask copy "/v1/wallets/copy?$wallet&since=$newest&limit=3" 200; then
        same copy "the address" "$(get copy .data.wallet)" "$address"
    fi
    if ask connections "/v1/wallets/connections?$wallet&limit=3" 200; then
        same connections "the address" "$(get connections .data.wallet_address)" "$address"
        holds connections "more are shown than there are" \
            "$(get connections .data.connections#) <= $(get connections .data.total)"
    fi
fi

# newest_first NAME: check the number and the order of the trades of a feed.
newest_first() {
    same "$1" count "$(get "$1" .data.transactions#)" "$(get "$1" .data.count)"
    all "$1" '[.]data[.]transactions[.][0-9]+[.]created_at' | sort -c -r 2>/dev/null ||
        fault "$1: trades are not newest first"
}

# The same rows as CSV: a line for each, and one with the names of the columns.
{
    printf 'header = "Authorization: Bearer %s"\n' "$key"
    [ -z "${SMOKE_CA_FILE:-}" ] || printf 'cacert = "%s"\n' "$SMOKE_CA_FILE"
} >"$work/curl"
curl --config - --silent --max-time 30 --output "$work/csv" "$url/v1/wallet/leaderboard?$group&period=7d&limit=1&format=csv" \
    <"$work/curl" 2>/dev/null
case $(head -n 1 "$work/csv" 2>/dev/null) in
    wallet,rank,*) ;;
    *) fault "csv: the leaderboard is no table" ;;
esac

mint=
if ask latest "/v1/transactions/latest?$group&limit=20" 200; then
    newest_first latest
    mint=$(get latest .data.transactions.0.mint)
    # One with other characters would have to be encoded.
    case $mint in *[!0-9A-Za-z]*) mint= ;; esac
fi
if ask follow "/v1/transactions/latest?$group&after=now" 200; then
    same follow "the number of changes before any" "$(get follow .data.count)" 0
    cursor=$(get follow .data.pagination.next_cursor)
    ask follow_on "/v1/transactions/latest?$group&after=$cursor" 200
fi
if ask changes "/v1/transactions/latest?$group&after=start&transaction_type=sell&limit=20" 200; then
    all changes '[.]data[.]transactions[.][0-9]+[.]arrived_at' | sort -c 2>/dev/null ||
        fault "changes: they are not in the order of arrival"
    same changes "what is no sell" "$(all changes '[.]data[.]transactions[.][0-9]+[.]transaction_type' | grep -c -v sell)" 0
fi
if ask timerange "/v1/transactions/timerange?$group&minutes=60&limit=20" 200; then
    newest_first timerange
    holds timerange "more trades are shown than there are" "$(get timerange .data.count) <= $(get timerange .data.total)"
fi
if ask count "/v1/transactions/count?$group&hours=24" 200; then
    same count "the window" "$(get count .data.time_window_seconds)" 86400
    holds count "more wallets than trades" "$(get count .data.wallet_count) <= $(get count .data.count)"
fi
if [ -n "$mint" ]; then
    token="blockchain=$blockchain&mint=$mint"
    # An address of the chain that is no token.
    case $blockchain in
        solana) untraded=SysvarC1ock11111111111111111111111111111111 ;;
        *) untraded=0x000000000000000000000000000000000000dead ;;
    esac
    if ask token_trades "/v1/tokens/transactions?$token&limit=20" 200; then
        same token_trades "the mint" "$(get token_trades .data.token.mint)" "$mint"
        newest_first token_trades
    fi
    if ask prices "/v1/tokens/prices?$token,$untraded" 200; then
        same prices "the first mint" "$(get prices .data.tokens.0.mint)" "$mint"
        same prices "what is known of it" "$(get prices .data.tokens.0.found)" true
        same prices "what is known of no token" "$(get prices .data.tokens.1.found)" false
    fi
    if ask stats "/v1/tokens/stats?$token&limit=20" 200; then
        holders="$(all stats '[.]data[.]total_holders[.](kol|smart|whale)_count' | total)"
        same stats "the number of traders" "$(get stats .data.pagination.total)" "$holders"
        same stats "the mint" "$(get stats .data.token.mint)" "$mint"
    fi
    if ask holders "/v1/tokens/holders?$token&limit=20" 200; then
        same holders count "$(get holders .data.holders#)" "$(get holders .data.count)"
        holds holders "more are shown than there are" "$(get holders .data.count) <= $(get holders .data.total)"
    fi
fi
if ask signals "/v1/signals?$group&mode=cluster&min_wallets=1&limit=5" 200; then
    same signals count "$(get signals .data.signals#)" "$(get signals .data.count)"
    all signals '[.]data[.]signals[.][0-9]+[.]window[.]wallet_count' |
        awk 'NR > 1 && $1 > before { exit 1 } { before = $1 }' || fault "signals: not in the order of wallets"
fi
if ask analytics "/v1/analytics?$group&mode=most_traded" 200; then
    all analytics '[.]data[.]tokens[.][0-9]+[.]wallet_count' |
        awk 'NR > 1 && $1 > before { exit 1 } { before = $1 }' || fault "analytics: not in the order of wallets"
fi
if ask net_flow "/v1/analytics?$group&mode=net_flow&period=7d&limit=5" 200; then
    holds net_flow "a day has more buys than its week" \
        "$(get net_flow '.data.net_flows.0.windows.1d.buy') + 0 <= $(get net_flow '.data.net_flows.0.windows.7d.buy') + 0"
fi
if ask volume_trend "/v1/analytics?$group&mode=volume_trend&period=1d" 200; then
    buckets=$(get volume_trend .data.buckets#)
    # They end at quarters of an hour: the first and the last may be shorter.
    holds volume_trend "a day has neither 96 nor 97 buckets" "$buckets == 96 || $buckets == 97"
fi
if ask best "/v1/analytics?$group&mode=top_performers&limit=3" 200; then
    same best "the first rank" "$(get best .data.leaderboard.0.rank)" "$([ "$(get best .data.leaderboard#)" = 0 ] || echo 1)"
fi
if ask key /v1/key 200; then
    [ -n "$(get key .data.name)" ] || fault "key: it has no name"
    holds key "more requests are left than allowed" "$(get key .data.rate.remaining) < $(get key .data.rate.limit)"
fi
ask meta /v1/meta 200 bare && { [ -n "$(get meta ".wallet_counts.$blockchain.$type")" ] ||
    fault "meta: no number of wallets of $blockchain $type"; }
if ask health /v1/health 200 bare; then
    if [ "$max_age" = 0 ]; then
        # Prices may be as old as trades.
        all health '[.]components[.][a-z]+' | grep -q -x error && fault "health: a component is away"
    else
        same health status "$(get health .status)" ok
    fi
fi

if [ "$max_age" -gt 0 ] && ask age "/v1/transactions/volume?$group&seconds=$max_age" 200; then
    holds age "no trade of $blockchain $type in the last $max_age seconds" "$(get age .data.volume) > 0"
fi

cat "$work/faults"
[ ! -s "$work/faults" ]
