"""The words of generated names."""

# fmt: off
WALLET_FRONTS = ("", "0x", "Crypto", "Degen", "Chain", "Based", "Alpha", "Moon", "Captain ", "Dr ")
WALLET_NAMES = (
    "Marlow", "Vera", "Kestrel", "Juno", "Atlas", "Nyx", "Bramble", "Orson", "Pixel", "Quill", "Rook",
    "Saffron", "Tamsin", "Umber", "Vesper", "Wren", "Yarrow", "Zephyr", "Basil", "Cinder", "Dorian", "Ember",
    "Fable", "Gable", "Harrow", "Indigo", "Jasper", "Koda", "Lark", "Mica", "Nova", "Onyx", "Piper",
    "Quartz", "Rune", "Sable", "Thorne", "Vale", "Willow", "Xan", "Yuki", "Zola", "Birch", "Comet",
)
WALLET_BACKS = ("", "Trades", "Calls", "Labs", ".sol", "99")
WALLET_LABELS = ("Early buyer", "Fresh money", "Sniper", "Insider", "Market maker", "Old hand")

TOKEN_FRONTS = (
    "Pepe", "Doge", "Cat", "Frog", "Moon", "Baby", "Wif", "Giga", "Turbo", "Shiba", "Bonk", "Chad", "Based",
    "Rocket", "Zen", "Ghost", "Laser", "Pixel", "Mega", "Toad", "Goat", "Wojak", "Penguin", "Hamster",
    "Bull", "Ape", "Crab", "Duck", "Otter", "Sloth", "Panda", "Llama", "Neon", "Ultra", "Hyper", "Smol",
)
TOKEN_BACKS = (
    "Coin", "Inu", "AI", "Mars", "Hat", "DAO", "Swap", "Fi", "World", "King", "Fun", "GPT", "Club",
    "Army", "Lab", "X", "Verse", "Bot", "Chan", "Cash", "Max", "Pump", "69", "2049", "Gold", "Wizard",
    "Party", "Season",
)
# fmt: on
