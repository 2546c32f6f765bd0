"""Boilerplate of headlines: words, beyond the stop words of search, that neither begin nor end a trending phrase."""

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

# Words that can begin a phrase ("New York") but are meaningless alone.
WEAK = {
    "en": """
        new old first last second third top big best worst late early high low good bad great small little long short
        free full real open people man men woman women part plan deal home house city state country world
    """,
    "de": "neu alt gut groß klein",
    "fr": "grand grande petit petite",
    "es": "gran grande san santa",
}
