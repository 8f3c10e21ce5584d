-- As sums.sql, with the largest, the smallest, the latest and the earliest of trades: all that positions and their days have.
{sums},
{highest},
{lowest}
