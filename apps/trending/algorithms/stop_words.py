"""Words of headlines that make no trending phrase, beyond the stop words of search.

There is no tagger: what is a noun is told from these lists, from capitals and, in English, from endings.
"""

BOILERPLATE = {
    "en": """
        say says said saying tell tells told ask asks asked call calls called report reports reported reportedly
        announce announces announced reveal reveals revealed show shows showed make makes made take takes took get gets
        got give gives gave go goes went come comes came see sees seen look looks keep keeps want wants
        video videos photo photos picture pictures gallery watch live update updates updated breaking exclusive read
        listen news story stories opinion analysis review preview recap roundup guide latest things thing way ways
        next today tonight tomorrow yesterday now day days week weeks month months year years hour hours
        time times one two three four five six seven eight nine ten million billion per cent percent
        may might could will would back still also like without within amid among via since even much many may
        heres theres whats hes shes thats dont cant wont lets let inside ahead
    """,
    "de": """
        sagt sagen neue neuer neues neuen heute gestern morgen jahr jahre jahren tag tage tagen woche wochen uhr mehr
        video bilder live ticker news liveticker kommentar prozent millionen milliarden erste ersten zwei drei soll
        sollen will wollen kann können muss müssen macht geht gibt kommt zurück wieder
    """,
    "fr": """
        dit nouveau nouvelle nouveaux aujourd'hui hier demain an ans année années jour jours semaine semaines mois
        vidéo photos direct live après avant selon fait faire peut veut millions milliards deux trois premier première
        comment pourquoi quand où voici tout tous
    """,
    "es": """
        dice nuevo nueva nuevos nuevas hoy ayer mañana año años día días semana semanas mes meses vídeo video fotos
        directo tras según hace hacer puede quiere millones dos tres primer primera cómo qué cuándo dónde así
    """,
    "zh": """
        的 了 在 是 和 与 與 及 等 将 將 被 对 對 为 為 从 從 向 到 于 於 这 這 那 有 不 也 就 都 而 或 已 已经 称
        稱 表示 说 說 今天 昨天 明天 今年 去年 今日 年 月 日 时 個 个 一个 视频 視頻 图 新闻 新聞 最新 直播 快讯
        记者 記者 报道 報導 我们 他们 什么 如何 怎么 可以 没有 因为 进行 以及 其中 以上 以来
    """,
    "ja": "年 月 日 時 分 人 氏 新 的 中 後 前 今日 昨日 明日 今年 昨年 動画 写真 速報 最新 記者 発表 万 億 円",
    "ko": "오늘 어제 내일 올해 지난해 지난 이번 영상 사진 속보 단독 기자 종합 위해 대한 있다 없다 한다 했다",
}  # fmt: skip

# Days and months, which trend in every week and year. "May" and "March" are words of their own.
CALENDAR = {
    "en": """
        monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
        sundays mon tue wed thu fri weekend weekends january february april june july august september october november
        december jan feb aug sept oct nov dec am pm gmt est edt
    """,
    "de": """
        montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag wochenende januar februar märz april mai
        juni juli august september oktober november dezember
    """,
    "fr": """
        lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril mai juin juillet août septembre
        octobre novembre décembre
    """,
    "es": """
        lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto
        septiembre
        octubre noviembre diciembre
    """,
    "zh": """
        星期一 星期二 星期三 星期四 星期五 星期六 星期日 周一 周二 周三 周四 周五 周六 周日 周末 上午 下午 晚间 凌晨
        近日 日前 当日
    """,
}  # fmt: skip

# Verbs and adverbs: no noun phrase holds them, unless they are spelt as names in a text that is not title case.
VERBS = {
    "en": """
        according accuse accuses add adds admit admits ago ahead aids aim aims allow allows almost alone
        alongside already always amid apart apologise apologises apologize apologizes appear appears approve
        approves aren't argue argues around arrive arrives assures attends avoid avoids await awaits away back
        backs battles beat beats became because become becomes began begin begins begun behind being believe
        believes belongs below blame blames blasts boosts breaks bring brings broke broken brought builds built
        buy buys can can't cancels captures carries caught celebrate celebrates choose chooses chose cites
        climbs close closes collapses comes commits compares completes concludes condemns confirm confirms
        connects consider considers contains continue continues converts could couldn't crashes create creates
        crosses debuts decide decides declare declares defend defends deliver delivers denies deny depicts
        describe describes deserves despite destroys determines develops didn't die dies differs disappears
        discover discovers discusses dismiss dismisses divides doesn't dominate dominates don't doubles drags
        draws drew driven due during earn earns ease eases eats echoes eliminates else embraces emerge emerges
        enables endorse endorses ends endures enjoys enough ensure ensures enter enters erupts escapes
        establishes evacuates ever every everyone everything evokes evolves exceeds exists expands expect
        expects explain explains explodes explore explores expose exposes extend extends faces fail fails fallen
        falls feel feels fell felt fights find finds fled flee flees focuses follow following follows forward
        fought found frees freezes fuels gains gather gathers gave getting gives giving goes going got gotten
        grab grabs grew grow grown grows guides hadn't halts happen happened happens has hasn't hates haunts
        have haven't having he's heads hear heard hears held helps here's highlights hires hits holds how
        however hunts hurts i'm identifies ignores imagines imposes improves include included includes indicates
        insist insists inspires instead insults intends introduce introduces invests invites isn't it's
        jails join joins jumps just keeping keeps kicks kill kills knew knocks know knows lacks later launches
        lays leads learn learns least leave leaves led left less let let's lets lifts locks logs looking
        looks looms lose loses lost lowers made maintains makes making manages maybe meant meet meets met misses
        mourns moves must near nearly nears needs never nods nominates not nothing obtains occurs
        off offers often only operates oppose opposes organizes oust ousts out outlines over overtake
        overtakes owes owns packs paid paints pauses pay pays perhaps perpermits plays plead pleads
        please pledges plunges poses praises predict predicts prefers prepare prepares prevent prevents promotes
        proposes protect protects prove proves provide provides pulls pursues pushes puts quit quite
        quits raises ran rather reaches react reacts readies reads reaffirms realizes really reassures receive
        receives recover recovers reduces reflects refuse refuses regains reject rejects relates relies
        remain remains remember remembers remind reminds remove removes renews repeats replace replaces
        rerecognizes resign resigns respond responds resumes retains retires returns reunites reverses
        revives rips risen rises rose runs sat saves saying says seeing seek seeks seem seems sees sell sells
        send sends sent serves sets settles shakes she's shifts shines shoots should shouldn't shut shuts
        since sings sinks skips slam slams slashes sleeps slept slides slips smashes snaps so soars sold solves
        someone something somewhere soon sought sparks speak speaks spend spends spent splits spoke squeezes
        stabs starts stays sticks still stirs stood stops struck struggles succeeds
        sue sues suffer suffers suggest suggests summons surges sursuspends survive survives swaps swears sweeps
        swims swings switches tackles taken takes taking talking targets teaches teases tells tends
        than thanks that that's then there there's they're thinks this those though thought threaten
        threatens threw thrives through throws together told too topples tosses touches toward towards
        transtries tried tries triggers trims trying tumbles turns under undergoes understand
        understands unites unleashes unless until unveil unveils up updates upholds upon urge urges uses versus
        very via violates visits vow vows waits walks wants warn warns was washes wasn't watches we're
        weakens wear wears weighs welcome welcomes went were what what's when where whether which while who
        who's whose why widens wins wipes withdraws within without withstand won won't wonders wouldn't
        wraps write writes wrote yet yields you're your
    """,
    "de": """
        ist sind war waren wird werden wurde wurden hat haben hatte bleibt droht fordert gewinnt kritisiert
        liegt lässt nennt sieht siegt starb steht steigt stirbt tötet tritt trifft verliert verurteilt verletzt
        warnt wegen wirbt wirft zeigt
    """,
    "fr": """
        a annonce annoncé appelle arrêté arrive attend avertit condamné contre dénonce devient est être lance
        meurt mort reste sera sont tue tué tués va vont vers victime veulent
    """,
    "es": """
        acusa advierte anuncia asegura busca confirma contra deja denuncia detenido es está gana hay llega logra
        mata muere muerto niega pide pierde podría presenta recibe sigue son tiene van
    """,
    "zh": """
        举行 召开 发布 宣布 指出 强调 开展 推进 加强 实现 启动 出席 会见 进行 提出 成为 达到 超过 举办 推动 提升 完成
        开始 继续 发现 发生
        要求 希望 应该 必须 首次 正式 全面 持续 积极 共同 来自 前往 获得 认为 介绍 参加 关于 通过 根据 目前 此次 正在
        可能 不断 呼吁 造成
        進行 宣佈 發布 舉行 表达 会谈 应对 致 获 超 约 已 再 又 还 更 最 很 均 曾 或 并 但 由 以 其 各 该 本 此 每 中
        上 下 后 前 内 外 名 人
    """,
}  # fmt: skip

# Words that say little alone or together ("new plan"), but with another one ("New York").
WEAK = {
    "en": """
        affordable afraid age alleged amazing amount analyst analysts angry annual answer app apps area
        available back bad battle beautiful best better big biggest billions bit blast body bold boost boy brand
        brave bright brother business busy case cases cause chance change changes charge cheap chief child
        children city claim claims clash clean clear clever cold common complex contract controversial cool
        council country couple crazy critical current cut cute daily dangerous dark daughter day days dead
        deadly deal death deaths debut decline declines deep delay delays demand demands demo detail details
        difference different difficult dirty doctor door double dozens drop dry early easy effective end entire
        epic event exact expensive expert experts extra eye eyes face fact fake fall false family fan fans far
        fast father favorite favourite fear fears feature features few fight figure figures final finding
        findings first force forced forces form former forms free fresh friend friends full fun funny future
        gain game games general girl global good gorgeous great group groups half hand hands happy hard head
        health heart heavy help here high historic history hit hold home hope hopes hot hotel house huge hundred
        hundreds hurt husband iconic idea image images important incident incredible inside interview issue
        issues item items job jobs judge jump key kid kids kind lack largest last late latest launch lead
        leader leaders legendary lesson lessons level life light likely limit line list little live lives local
        long look lot lots love loves low main major man mark massive meaning meeting member members men method
        millions minute minutes miss missing mission mistake moment moments money monthly mood more most mother
        move multiple myth name names national nearby need new night nights nod normal note number offer
        office official officials old ongoing online open option options order other pace parents part partial
        past people perfect person pick picks piece place places plan plane play player players plunge point
        police poor pop popular possible post posts potential power powerful present press pressure price prices
        priest problem problems process product products program programme project projects promise proof proud
        public pull purpose push put quality question questions quick race raise range rank ranking rare rate
        rates reach reaction ready real reality reason reasons recent record regular release releases reminder
        report reports rescue research researchers resident residents response rest result results return reveal
        review reviews rich right rip rise risk risks rival rivals road role room rough rule rules rumor rumors
        run sad safe saga sale sales save scale scary scene scientists season second secret section senior sense
        series serious set several severe shake shape share shares shift shock shocking short shot side sides
        sight sign signal significant signs similar simple single sink site size skill skills slash slide slow
        small smart soar solution son song songs sound source sources space spark special spirit spot spots
        stage stake stand standard stands star start state statement statue status stay steal steals step
        steps stole stop strange strategy street stress strong struggle student students studies
        study stuff stunning style subject success successful sudden supply support surge surprise
        suspect suspects sweet system systems tackle talk talks target task team teams tease technique
        technology term terms test thank theory think third thought thoughts thousand thousands threat threats
        throw tight tip tips title titles tool tools top topic total touch tough town track tragic trend
        trends trick trip trouble true truth try tumble turn twist type types ultimate unique
        unsuccessful unusual upcoming update upgrade use user users usual value values various version versions
        very victim victims view views viral vision visit voice vote wait wake walk wall want warm
        warning wave ways weapon week weekly weird wet whole wife wild win wish woman women wonder words
        work worker workers works world worried worst worth writer wrong young zone
    """,
    "de": "neu alt gut groß klein frau mann menschen stadt land welt leben ende anfang",
    "fr": "grand grande petit petite homme femme gens pays ville monde vie fin",
    "es": "gran grande san santa hombre mujer gente país ciudad mundo vida fin",
    "zh": """
        工作 活动 问题 情况 方面 国家 发展 合作 国际 中国 全国 会议 代表 记者会 人民 社会 世界 地区 城市 公司 企业
        项目 服务 时间 男子 女子
    """,
}  # fmt: skip

# Words inside a noun phrase; others end it. Languages without a list allow all stop words.
BETWEEN = {
    "en": "of the and for in on a an s",
    "de": "der die das des dem den und von zu im in am für auf",
    "fr": "de la le les du des d l et à au aux en sur",
    "es": "de la el los las del y en",
    "zh": "和 与 的",
}

# English nouns and names that end like verbs and adverbs.
NO_VERBS = """
    ahmed alfred allied ally anomaly apply assembly associated bed belly beverly billy biped bleed breed bully
    butterfly comply creed daily deed elderly embed emily family fed federated feed fly fred friendly greed grizzly
    hatred holly hundred incorporated infrared italy jared jelly july kelly kimberly kindred lilly lily limited med
    melancholy mohammed molly monopoly monthly multiply ned need nelly orderly philly polly poly quarterly rally red
    reed reilly reply sacred sally seed shed shred silly sled sly speed steed supply ted tweed ugly united unmanned
    wed weed weekly willy wooly yearly
"""
