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
        according accuse accuses admit admits ago ahead aim aims allow allows almost alone alongside already
        always amid apart apologise apologises apologize apologizes appear appears approve approves argue argues
        around arrive arrives avoid avoids await awaits away back battles beat beats became because become
        becomes began begin begins begun behind being believe believes below blame blames blasts boosts bring
        brings brought buy buys can caught celebrate celebrates choose chooses chose close closes collapses
        confirm confirms consider considers continue continues could create creates debuts decide decides
        declare declares defend defends denies deny describe describes despite die dies discover discovers
        dismiss dismisses dominate dominates due during earn earns ease eases else emerge emerges ends enough
        enter enters ever every everyone everything expect expects explain explains explore explores expose
        exposes faces fail fails fallen falls feel feels fell felt fights find finds fled flee flees follow
        following follows forward fought found gains gather gathers getting giving going grab grabs grew grow
        grown grows happen happened happens has have having heads hear heard hears held helps hits holds how
        however hurts include includes insist insists instead introduce introduces join joins jumps just keeping
        kill kills knew know knows later launches leads learn learns least leave leaves led left less let lets
        looking lose loses lost making maybe meet meets met misses moves must near nearly needs never not
        nothing off offers often only oppose opposes oust ousts out over overtake overtakes paid pay pays
        perhaps plays plead pleads please plunges predict predicts prepare prepares prevent prevents protect
        protects prove proves provide provides pulls pushes puts quit quite quits raises ran rather reaches
        react reacts really receive receives recover recovers refuse refuses reject rejects remain remains
        remember remembers remove removes replace replaces resign resigns respond responds returns rips risen
        rises rose runs sat saves saying seeing seek seeks seem seems sell sells send sends sent sets shakes
        should since sinks slam slams slashes slides so soars sold someone something somewhere soon sought
        sparks speak speaks spend spends spent spoke starts stays still stood stops struck struggles sue sues
        suffer suffers suggest suggests surges survive survives tackles taken taking talking targets teases than
        thanks that then there thinks this those though thought threaten threatens threw through throws together
        told too toward towards tried tries trying tumbles turns under unless until unveil unveils up upon urge
        urges uses versus very via visits vow vows waits walks warn warns was wear wears weighs welcome welcomes
        went were what when where whether which while who whose why wins within without won wonders write writes
        wrote yet your
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
        age amount answer area back bad battle best better big biggest billions bit blast body boost boy brother
        business case cases cause chance change changes charge child children city claim claims clash country
        couple critical current cut daughter day days dead deadly deal death deaths debut decline declines delay
        delays demand demands details difference different difficult door dozens drop early easy end event eye
        eyes face fact fall family far father fear fears few fight final first force forced forces former free
        friend friends full fun future gain game games general girl global good great group groups half hand
        hands hard head health heart help here high history hit hold home hope hopes hot hotel house huge
        hundred hundreds hurt husband idea image images important incident inside interview issue issues job
        jobs jump key kid kids kind largest last late latest launch lead leader leaders level life likely line
        list little live lives local long look lot love loves low main major man mark meeting member members men
        millions minute minutes miss missing moment moments money more most mother move name names national
        nearby need new night nights number offer office official officials old online open order other parents
        part past people person place places plan play player players plunge point police possible post posts
        power present press price prices problem problems public pull push put question questions raise rare
        reach real reason reasons record release releases report response rest result results return right rip
        rise road role room rule rules run save scene season second secret senior sense series set shake share
        shares short sign significant signs similar sink site size slash slide small soar son source spark
        special stand stands star start state statement stay steal steals step stole stop street strong struggle
        student students support surge tackle talk target team teams tease term terms test thank think third
        thousand thousands throw top total town tragic trip true try tumble turn type use very view viral visit
        voice vote wait walk warning week wife win woman women wonder words work worker workers works world
        worst wrong young
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
