"""The venues of EVM chains: contracts, and events of any contract."""

from wallet_api.chain.decoding.venues import MADE, Role, Venue

# Topics.
_CURVE = "0x8b3e96f2b889fa771c53c981b40daf005f63f637f1869f707052d15a3dd97140"
_CURVE_CRYPTO = "0xb2e76ae99761dc136e598d4a629bb347eccb9532a5f8bbd72e18467c3c34cc98"
_CURVE_NG = "0x143f1f8e861fbdeddd5b46e844b7d3ac7b86a122f36e8c463859ee6811b1f29c"
_BALANCER = "0x2170c741c41531aec20e7c107c24eecfdd15e69c9bb0a8dd37b1840b9e0b207b"
_BALANCER_3 = "0x0874b2d545cb271cdbda4e093020c452328b24af12382ed62c4d00f5c26709db"
_CLIPPER = "0x4be05c8d54f5e056ab2cfa033e9f582057001268c3e28561bb999d35d2c8f2c8"
_UNISWAP_1_BUY = "0xcd60aa75dea3072fbc07ae6d7d856b5dc5f4eee88854f5b4abf7b680ef8bc50f"
_UNISWAP_1_SALE = "0x7f4091b46c33e918a0f3aa42307641d17bb67029427a5369e54b353984238705"
_ERC_314 = "0x49926bbebe8474393f434dfa4f78694c0923efa07d19f2284518bfabd06eb737"
_WOMBAT = "0x7fa01e8d24e5a6ec56e00b4ff8ee7ed97e7650a7846ec494bbaa5d65f1be9ea4"
_ONE_INCH = "0x76af224a143865a50b41496e1a73622698692c565c1214bc862f18e22d829c5e"
_KYBER = "0x1849bd6a030a1bca28b83437fd3de96f3d27a5d172fa7e9c78e7b61468928a39"
_PARASWAP = "0xe00361d207b252a464323eb23d45d42583e391f2031acdd2e9fa36efddd43cb0"
_ODOS = "0xe87568fe5934cb7524b96e16b225ee2e7e738ccbb706c7bee52ce07bf0360e69"
_FOUR_MEME_BUY = "0x7db52723a3b2cdd6164364b3b766e65e540d7be48ffa89582956d8eaebe62942"
_FOUR_MEME_SALE = "0x0a5575b3648bae2210cee56bf33254cc1ddfbc7bf637c0af2ac18b14fb1bae19"
_UNISWAP_2 = "0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822"
_UNISWAP_2_MINT = "0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f"
_UNISWAP_3 = "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67"
_UNISWAP_4 = "0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f"
_OPERATION = "0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f"
_STARTED = "0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972"
_FILL = "0x78ad7ec0e9f89e74012afa58738b6b661c024cb0fd185ee2f616c0a28924bd66"
_FILLED = "0xb9ed0243fdf00f0545c63a0af8850c090d86bb46682baec4bf3c496814fe4f02"
_FILLED_6 = "0xfec331350fce78ba658e082a71da20ac9f8d798a99b3c79681c8440cbfe77e07"
_TOKENLON_RFQ = "0x75d58426b26ab641a6a6a46f12fe35e17c570a1cd264c7248a73d90e3a8682ff"
_TOKENLON_LIMIT = "0x3521b51e0a13698f9aa5c203e383515042aba3f7451a458d1dd51376d2c486fa"
_PARASWAP_RFQ = "0x6621486d9c28838df4a87d2cca5007bc2aaf6a5b5de083b1db8faf709302c473"
_KYBER_RFQ = "0x71cea972ff7e532f1478ece362ee7d7e5be0654905843c97ecca781a3a0c9d4a"
_COW_TRADE = "0xa07a543ab8a018198e99ca0184c93fe9050a79400a0a723441f84de1d972cc17"
_0X_SIGNED = "0x7f4fe3ff8ae440e1570c558da08440b26f89fb1c1f2910cd91ca6452955f121a"
_0X_TRANSFORMED = "0x0f6672f78a59ba8e5e5b5d38df3ebc67f3c792e2c9259b8d97d7f00dd78ba1b3"
_0X_OTC = "0xac75f773e3a92f1a02b12134d65e1f47f8a14eabe4eaf1e24624918e6a8b269f"
_0X_RFQ = "0x829fa99d94dc4636925b38632e625736a614c154d55006b7ab6bea979c210c32"
_0X_LIMIT = "0xab614d2b738543c0ea21f56347cf696a3a0c42a7cbec3212a5ca22a4dcff2124"
_SAFE_OWNERS = "0x442e715f626346e8c54381002da614f62bee8d27386535b2521ec8540898556e"
_SAFE_OWNERS_START = "0x66753cd2356569ee081232e3be8909b950e0a76c1f8460c3a5e3c2be32b11bed"
_SAFE_MODULE_START = "0xb648d3644f584ed1c2232d53c46d87e693586486ad0d1175f8656013110b714e"
_SAFE_MODULE = "0x6895c13664aa4f67288b25d7a21d7aaa34916e355fb9b6fae0a139a9085becb8"
_INFINITY = "0x04206ad2b7c0f463bff3dd4f33c5735b0f2957a351e4f79763a4fa9e775dd237"
_SWAPPED = "0xd6d4f5681c246c9f42c203e287975af1601f8df8035a9251f79aab5c8f09e2f8"
_SWAPPED_OTHER = "0x20efd6d5195b7b50273f01cd79a27989255356f9f13293edc53ee142accfdb75"
_BANANA_FEE = "0x72015ace03712f361249380657b3d40777dd8f8a686664cab48afd9dbbe4499f"
_BOT_FEE = "0x0c2a2f565c7774c59e49ef6b3c255329f4d254147e06e724d3a8569bb7bd21ad"

# Addresses.
_0X = "0xdef1c0ded9bec7f1a1670819833240f027b25eff"
_FOUR_MEME = "0x5c952063c7fc8610ffdb798152d69f0b9550762b"
_COW = "0x9008d19f58aabd9ed0d60971565aa8510560ab41"
_BALANCER_VAULT = "0xba12222222228d8ba445958a75a0704d566bf2c8"
_BALANCER_3_VAULT = "0xba1333333333a1ba1108e8412f11850a5c319ba9"
_POOLS = "0x000000000004444c5dc75cb358380d2e3de08a90"
_POOLS_BASE = "0x498581ff718922c3f8e6a244956af099b2652b2b"
_POOLS_BNB = "0x28e2ea090877bf75740558f6bfb36a5ffee9e9df"
_POOLS_INFINITY = "0xa0ffb9c1ce1fe56963b0321b32e7a0302114058b"
_INFINITY_VAULT = "0x238a358808379702088667322f80ac48bad5e6c4"
_1INCH_4 = "0x1111111254fb6c44bac0bed2854e76f90643097d"
_1INCH_5 = "0x1111111254eeb25477b68fb85ed929f73a960582"
_TOKENLON_1 = "0x8d90113a1e286a5ab3e496fbd1853f265e5913c6"
_TOKENLON_2 = "0x623a6b3424f3d5e2ec677d5bb92ba12a9dc4f71a"
_AUGUSTUS = "0xe92b586627cca7a83dc919cc7127196d70f55a06"
_KYBER_1 = "0x7a819fa46734a49d0112796f9377e024c350fb26"

EVM = (
    # https://github.com/eth-infinitism/account-abstraction: UserOperationEvent, BeforeExecution.
    *(
        Venue(role, f"EntryPoint {version}", recorded, address, topic, places)
        for version, address, recorded in (
            ("0.6", "0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789", "0x13020b28"),
            ("0.7", "0x0000000071727de22e5e9d8baf0edac6f37da032", MADE),
            ("0.8", "0x4337084d9e255ff0702461cf8895ce9e3b5ff108", MADE),
            ("0.9", "0x433709009b8330fda32311df1c2afa402ed8d009", MADE),
        )
        # The account, its paymaster, and the cost.
        for role, topic, places in ((Role.ENTRY_POINT, _OPERATION, (1, 2, 5)), (Role.START, _STARTED, ()))
    ),
    # https://github.com/cowprotocol/contracts: Trade, with owner, tokens, amounts, and the order's id.
    Venue(Role.SETTLEMENT, "CoW Protocol", "0x14e73a3b", _COW, _COW_TRADE, (0, 1, 2, 3, 4)),
    # https://github.com/cowprotocol/ethflowcontract
    Venue(Role.ORDERS, "CoW Protocol", "0xe2d6aa63", "0x40a50cf069e992aa4536211b23f286ef88752187"),
    Venue(Role.ORDERS, "CoW Protocol 2", "0x2c8cac57", "0xba3cb449bd2b4adddbc894d8697f5170800eadec"),
    # https://github.com/0xProject/protocol: MetaTransactionExecuted (signer), TransformedERC20 (taker), and
    # orders, each with its maker and its taker.
    Venue(Role.RUNS, "0x, signer", "0xb77f8e36", _0X, _0X_SIGNED, (2,)),
    Venue(Role.STATES, "0x, taker", "0x4a5eb8fa", _0X, _0X_TRANSFORMED, (0, 1, 2, 3, 4)),
    Venue(Role.STATES, "0x, OTC order", "0x29bd536e", _0X, _0X_OTC, (1, 3, 4, 5, 6, 2, 4, 3, 6, 5)),
    Venue(Role.STATES, "0x, RFQ order", "0xd4d16ea7", _0X, _0X_RFQ, (1, 3, 4, 6, 5, 2, 4, 3, 5, 6)),
    Venue(Role.STATES, "0x, limit order", "0x20dbe922", _0X, _0X_LIMIT, (1, 4, 5, 7, 6, 2, 5, 4, 6, 7)),
    # https://github.com/consenlabs/tokenlon-v5-contracts: FillOrder of RFQ (user and maker), and
    # LimitOrderFilledByProtocol (maker).
    Venue(
        Role.STATES,
        "Tokenlon, RFQ",
        "0x37b61855",
        _TOKENLON_1,
        _TOKENLON_RFQ,
        (2, 4, 7, 5, 10, 6, 7, 4, 8, 5),
    ),
    Venue(Role.STATES, "Tokenlon, limit order", "0x285da460", _TOKENLON_2, _TOKENLON_LIMIT, (1, 6, 7, 8, 9)),
    # AugustusRFQ of https://github.com/paraswap/augustus-v5, and KyberSwap RFQ: OrderFilled (maker).
    Venue(Role.STATES, "ParaSwap, RFQ", "0x937ab25d", _AUGUSTUS, _PARASWAP_RFQ, (1, 3, 5, 4, 6)),
    Venue(Role.STATES, "KyberSwap, RFQ", "0x1759c2ea", _KYBER_1, _KYBER_RFQ, (0, 3, 4, 5, 6)),
    # https://github.com/1inch/limit-order-protocol: OrderFilled of versions that have the maker in it, and
    # of the one that has not.
    Venue(Role.FILLS, "1inch 5, maker", "0x47307e4e", _1INCH_5, _FILLED, (0,)),
    Venue(Role.FILLS, "1inch 4, maker", "0x3dac2080", _1INCH_4, _FILLED, (0,)),
    Venue(Role.HASH, "1inch 6", "0x09b63a10", "0x111111125421ca6dc452d289314280a0f8842a65", _FILLED_6, (0,)),
    # https://github.com/Uniswap/UniswapX and its fork: Fill, with the swapper.
    *(
        Venue(Role.FILLS, name, recorded, address, _FILL, (2,))
        for name, address, recorded in (
            ("UniswapX", "0x6000da47483062a0d734ba3dc7576ce6a0b645c4", "0x2d53f9af"),
            ("UniswapX 2", "0x00000011f84b9aa48e5f8aa8b9897600006289be", "0xe2530de4"),
            ("UniswapX, Base", "0x000000001ec5656dcdb24d90dfa42742738de729", MADE),
            ("PancakeSwapX", "0x35db01d1425685789dcc9228d47c7a5c049388d8", "0x3db95e8b"),
        )
    ),
    # https://github.com/safe-global/safe-smart-account
    Venue(Role.ACCOUNT_START, "Safe, owners", "0x7157b063", "", _SAFE_OWNERS_START),
    Venue(Role.ACCOUNT_START, "Safe, module", "0x88cae3b3", "", _SAFE_MODULE_START),
    Venue(Role.ACCOUNT, "Safe, owners", "0x4a95c820", "", _SAFE_OWNERS),
    Venue(Role.ACCOUNT, "Safe, module", "0x27cd9be0", "", _SAFE_MODULE),
    Venue(Role.LENDING, "Morpho Blue", "0x90a83a26", "0xbbbbbbbbbb9cc5e90e3b3af64bdaf62c37eeffcb"),
    # TokenExchange of Curve: with small and large indexes, and with fees.
    Venue(Role.POOL, "Curve", "0x31e337fb", "", _CURVE, (2, 4)),
    Venue(Role.POOL, "Curve, crypto", "0xf79aa597", "", _CURVE_CRYPTO, (2, 4)),
    Venue(Role.POOL, "Curve, NG", "0x6f3b9fae", "", _CURVE_NG, (2, 4)),
    # https://docs.uniswap.org/contracts: Swap of versions 2 and 3, and of their forks.
    Venue(Role.SWAP, "Uniswap 2", "0x24355cc4", "", _UNISWAP_2),
    Venue(Role.LIQUIDITY, "Uniswap 2, Mint", "0x81375a1a", "", _UNISWAP_2_MINT),
    Venue(Role.SWAP, "Uniswap 3", "0x48f48d62", "", _UNISWAP_3),
    # https://github.com/balancer/balancer-v2-monorepo: Swap of the vault.
    Venue(Role.POOL, "Balancer 2", "0x355c18ab", _BALANCER_VAULT, _BALANCER, (3, 4)),
    # https://github.com/balancer/balancer-v3-monorepo: Swap of the vault.
    Venue(Role.SWAP, "Balancer 3", "0xbffb6bd2", _BALANCER_3_VAULT, _BALANCER_3),
    Venue(Role.POOL, "Clipper", "0x6a035951", "", _CLIPPER, (3, 4)),
    # https://github.com/Uniswap/v1-contracts: TokenPurchase and EthPurchase.
    Venue(Role.POOL, "Uniswap 1, buy", "0xa331b8a6", "", _UNISWAP_1_BUY, (1, 2)),
    Venue(Role.POOL, "Uniswap 1, sale", "0x2ae9298c", "", _UNISWAP_1_SALE, (1, 2)),
    # ERC-314, tokens that are their own pools: Swap, with the coin and the tokens in, then those out.
    Venue(Role.POOL, "ERC-314", MADE, "", _ERC_314, (1, 2, 3, 4)),
    # https://docs.uniswap.org/contracts/v4/deployments
    Venue(Role.MANAGER, "Uniswap 4", "0xd467dc8d", _POOLS, _UNISWAP_4, (2, 3)),
    Venue(Role.MANAGER, "Uniswap 4, Base", "0xa8ba1828", _POOLS_BASE, _UNISWAP_4, (2, 3)),
    Venue(Role.MANAGER, "Uniswap 4, BNB", MADE, _POOLS_BNB, _UNISWAP_4, (2, 3)),
    Venue(Role.MANAGER, "a fork of Uniswap 4", "0x2c8cac57", "", _UNISWAP_4, (2, 3)),
    # PancakeSwap Infinity: its vault has the tokens.
    Venue(
        Role.MANAGER,
        "PancakeSwap Infinity",
        "0x30402264",
        _POOLS_INFINITY,
        _INFINITY,
        (2, 3),
        _INFINITY_VAULT,
    ),
    # https://github.com/wombat-exchange/v1-core: Swap, with the tokens and their amounts.
    Venue(Role.VAULTS, "Wombat", "0xb3f70f0e", "", _WOMBAT, (4, 5)),
    # Odos 1 logs this of several tokens alone.
    Venue(Role.ROUTER, "1inch 2", "0x5edc23d5", "0x111111125434b319222cdbf8c261674adb56f3ae", _ONE_INCH),
    Venue(Role.ROUTER, "1inch 2, any", "0xf882a6a3", "", _ONE_INCH),
    Venue(Role.ROUTER, "Kyber, legacy", "0xe9cc9f27", "0x818e6fecd516ecc3849daf6845e3ec868087b755", _KYBER),
    Venue(Role.ROUTER, "ParaSwap", "0xdbad52c6", "0xdef171fe48cf0115b1d80b88dc8eab59176fee57", _PARASWAP),
    Venue(Role.ROUTER, "ParaSwap 2", "0xf93a7211", "0x59c7c832e96d2568bea6db468c1aadcbbda08a52", _PARASWAP),
    Venue(Role.ROUTER, "Odos 1", "0xce86cc4b", "0x76f4eed9fe41262669d0250b2a97db79712ad855", _ODOS),
    Venue(Role.ROUTER, "Odos 1, second", "0xd8a00593", "0x9f138be5aa5cc442ea7cc7d18cd9e30593ed90b9", _ODOS),
    Venue(Role.ROUTER, "Odos 1, any", "0x82e41ced", "", _ODOS),
    # The routers of https://docs.uniswap.org/contracts and of forks; MetaMask's, whose adapters keep a fee.
    Venue(Role.PAYS, "Uniswap 2", "0x03cfba95", "0x7a250d5630b4cf539739df2c5dacb4c659f2488d"),
    Venue(Role.PAYS, "Sushi", "0x57d75561", "0xd9e1ce17f2641f24ae83637ab66a2cca9c378b9f"),
    Venue(Role.PAYS, "Uniswap 3", "0xc2bfaf0a", "0xe592427a0aece92de3edee1f18e0157c05861564"),
    Venue(Role.PAYS, "PancakeSwap 2", "0x0ff20222", "0x10ed43c718714eb63d5aa57b78b54704e256024e"),
    Venue(Role.PAYS, "Uniswap 3, second", "0x265c15c2", "0x68b3465833fb72a70ecdf485e0e4c7bd8665fc45"),
    Venue(Role.PAYS, "Uniswap, universal", "0x8c1aab13", "0xef1c6e67703c7bd7107eed8303fbe6ec2554bf6b"),
    Venue(Role.PAYS, "Uniswap, universal 2", "0x4932e390", "0x3fc91a3afd70395cd496c647d5a6cc9d4b2b7fad"),
    Venue(Role.PAYS, "Uniswap, universal 4", "0x4a3d3205", "0x66a9893cc07d91d95644aedd05d03f95e1dba8af"),
    Venue(Role.PAYS, "MetaMask", "0x5648121b", "0x881d40237659c251811cec9c364ef91dc08d300c"),
    # Swapped of 1inch 4 and KyberSwap, and the like: who called, the tokens, whom it paid, and the amounts.
    *(
        Venue(Role.PAID_OUT, name, recorded, address, topic, (0, 1, 2, 4, 5, 3))
        for name, address, topic, recorded in (
            ("1inch 4", _1INCH_4, _SWAPPED, "0x3dac2080"),
            ("KyberSwap", "0x6131b5fae19ea4f9d964eac0408e4408b66337b5", _SWAPPED, "0x5ed0b7ee"),
            ("0x77edae6a", "0x77edae6a5f332605720688c7fda7476476e8f83f", _SWAPPED_OTHER, "0x21110115"),
        )
    ),
    # Bots that state what they keep: of a sale's proceeds, or beside what a purchase cost.
    *(
        Venue(Role.KEEPS, name, recorded, address, topic, (0, 1))
        for name, address, topic, recorded in (
            ("Banana Gun", "0x3328f7f4a1d1c57c35df56bbf0c9dcafca309c49", _BANANA_FEE, "0x4e4b34d1"),
            ("0x1e071380", "0x1e071380e7d0d6e16e0e6a2a8c990b45b13c8f90", _BOT_FEE, "0x33c78878"),
        )
    ),
    # TokenManager 2 of four.meme: TokenPurchase and TokenSale, with the tokens and the coin.
    Venue(Role.POOL, "four.meme, buy", MADE, _FOUR_MEME, _FOUR_MEME_BUY, (4, 3)),
    Venue(Role.POOL, "four.meme, sale", MADE, _FOUR_MEME, _FOUR_MEME_SALE, (3, 4)),
)
