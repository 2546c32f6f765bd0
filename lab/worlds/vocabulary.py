"""Words from which texts are composed, language by language.

Every actor fits every verb, and every verb every object, so that all sentences are grammatical.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Parts of sentences; `headline` and `sentences` are put together with str.format."""

    language: str
    headline: str
    actors: tuple[str, ...]
    verbs: tuple[str, ...]
    objects: tuple[str, ...]
    places: tuple[str, ...]
    sentences: tuple[str, ...]
    names: tuple[str, ...]  # of newspapers; the place is added
    joint: str = " "  # between sentences


ENGLISH = Vocabulary(
    language="en",
    headline="{actor} {verb} {object} in {place}",
    actors=(
        "The transport ministry",
        "A regional court",
        "The city council",
        "The central bank",
        "A team of astronomers",
        "The teachers' union",
        "The national library",
        "The harbour authority",
        "A young start-up",
        "The football association",
        "The weather service",
        "A group of doctors",
        "The film festival",
        "The opposition",
    ),
    verbs=("postpones", "approves", "questions", "presents", "cancels", "defends", "expands", "reviews", "rejects"),
    objects=(
        "the plan for a night train",
        "the budget for new schools",
        "a study on river floods",
        "the rise in fares",
        "a programme for small farms",
        "the rules for rented flats",
        "the map of bicycle lanes",
        "a radio telescope",
        "the opening match",
        "the repair of the old bridge",
        "a vaccine trial",
        "the archive of old newspapers",
        "the tax on plastic",
        "an open-source health record",
    ),
    places=("Bristol", "Leeds", "Boston", "Toronto", "Dublin", "Cape Town", "Melbourne", "Edinburgh", "Seattle"),
    sentences=(
        "{actor} {verb} {object}, a spokesperson said in {place}.",
        "About {number} people had taken part in the consultation.",
        "Critics point to costs of {number} million.",
        "A decision is expected within {small} weeks.",
        "Residents of {place} have waited {small} years for this.",
        "“We looked at every figure twice,” said one of those involved.",
        "Similar projects elsewhere took {small} months longer than planned.",
        "The details are to be published on Friday.",
        "Nobody in {place} was available for comment.",
    ),
    names=("Courier", "Herald", "Observer", "Gazette", "Tribune"),
)

GERMAN = Vocabulary(
    language="de",
    headline="{actor} {verb} {object} in {place}",
    actors=(
        "Das Verkehrsministerium",
        "Ein Landgericht",
        "Der Stadtrat",
        "Die Zentralbank",
        "Eine Forschungsgruppe",
        "Die Gewerkschaft",
        "Die Nationalbibliothek",
        "Die Hafenbehörde",
        "Der Fußballverband",
        "Der Wetterdienst",
    ),
    verbs=("verschiebt", "genehmigt", "prüft", "verteidigt", "verwirft", "erweitert", "überarbeitet"),
    objects=(
        "den Plan für einen Nachtzug",
        "den Haushalt für neue Schulen",
        "eine Studie über Hochwasser",
        "die höheren Fahrpreise",
        "ein Programm für kleine Höfe",
        "die Regeln für Mietwohnungen",
        "den Bau neuer Radwege",
        "ein Radioteleskop",
        "die Sanierung der alten Brücke",
        "eine Impfstudie",
    ),
    places=("Bremen", "Leipzig", "Zürich", "Graz", "Köln", "Rostock", "Nürnberg"),
    sentences=(
        "{actor} {verb} {object}, hieß es in {place}.",
        "Rund {number} Menschen hatten sich an der Befragung beteiligt.",
        "Kritiker verweisen auf Kosten von {number} Millionen.",
        "Eine Entscheidung wird in {small} Wochen erwartet.",
        "In {place} wartet man darauf seit {small} Jahren.",
        "„Wir haben jede Zahl zweimal geprüft“, sagte ein Beteiligter.",
        "Einzelheiten sollen am Freitag veröffentlicht werden.",
    ),
    names=("Anzeiger", "Rundschau", "Tageblatt", "Zeitung"),
)

FRENCH = Vocabulary(
    language="fr",
    headline="{actor} {verb} {object} à {place}",
    actors=(
        "Le ministère des Transports",
        "Un tribunal",
        "Le conseil municipal",
        "La banque centrale",
        "Une équipe de chercheurs",
        "Le syndicat des enseignants",
        "La bibliothèque nationale",
        "La fédération",
    ),
    verbs=("reporte", "approuve", "conteste", "présente", "annule", "défend", "réexamine"),
    objects=(
        "le projet de train de nuit",
        "le budget des écoles",
        "une étude sur les crues",
        "la hausse des tarifs",
        "un programme pour les petites fermes",
        "les règles sur les loyers",
        "le plan des pistes cyclables",
        "la réparation du vieux pont",
        "un essai de vaccin",
    ),
    places=("Lyon", "Nantes", "Genève", "Bruxelles", "Lille", "Montréal"),
    sentences=(
        "{actor} {verb} {object}, a-t-on appris à {place}.",
        "Environ {number} personnes ont participé à la consultation.",
        "Le coût est estimé à {number} millions d’euros.",
        "Une décision est attendue dans {small} semaines.",
        "« Nous avons vérifié chaque chiffre deux fois », dit un participant.",
        "Les détails seront publiés vendredi.",
    ),
    names=("Le Courrier", "La Dépêche", "L’Écho", "La Tribune"),
)

SPANISH = Vocabulary(
    language="es",
    headline="{actor} {verb} {object} en {place}",
    actors=(
        "El ministerio de Transporte",
        "Un tribunal",
        "El ayuntamiento",
        "El banco central",
        "Un equipo de astrónomos",
        "El sindicato de docentes",
        "La biblioteca nacional",
        "La federación de fútbol",
    ),
    verbs=("aplaza", "aprueba", "cuestiona", "presenta", "cancela", "defiende", "revisa"),
    objects=(
        "el plan del tren nocturno",
        "el presupuesto de las escuelas",
        "un estudio sobre las inundaciones",
        "la subida de tarifas",
        "un programa para granjas pequeñas",
        "las reglas del alquiler",
        "el mapa de carriles bici",
        "la reparación del puente viejo",
        "un ensayo de vacunas",
    ),
    places=("Bilbao", "Sevilla", "Bogotá", "Rosario", "Valencia", "Montevideo"),
    sentences=(
        "{actor} {verb} {object}, según fuentes de {place}.",
        "Unas {number} personas participaron en la consulta.",
        "El coste asciende a {number} millones.",
        "Se espera una decisión en {small} semanas.",
        "«Revisamos cada cifra dos veces», dijo un participante.",
        "Los detalles se publicarán el viernes.",
    ),
    names=("El Correo", "La Voz", "El Diario", "La Crónica"),
)

POLISH = Vocabulary(
    language="pl",
    headline="{place}: {actor} {verb} {object}",
    actors=(
        "ministerstwo transportu",
        "sąd okręgowy",
        "rada miasta",
        "bank centralny",
        "zespół astronomów",
        "związek nauczycieli",
        "biblioteka narodowa",
        "zarząd portu",
        "związek piłkarski",
    ),
    verbs=("przesuwa", "zatwierdza", "przedstawia", "odwołuje", "odrzuca", "sprawdza"),
    objects=(
        "plan nocnego pociągu",
        "budżet nowych szkół",
        "badanie powodzi",
        "podwyżkę biletów",
        "program dla małych gospodarstw",
        "zasady najmu mieszkań",
        "mapę ścieżek rowerowych",
        "remont starego mostu",
        "próby szczepionki",
    ),
    places=("Gdańsk", "Łódź", "Kraków", "Poznań", "Lublin"),
    sentences=(
        "Jak podano, {actor} {verb} {object}.",
        "W konsultacjach wzięło udział {number} osób.",
        "Krytycy mówią o kosztach rzędu {number} mln zł.",
        "Decyzja ma zapaść za {small} tygodni.",
        "„Każdą liczbę sprawdziliśmy dwa razy” – powiedział jeden z uczestników.",
        "Szczegóły poznamy w piątek.",
    ),
    names=("Kurier", "Głos", "Dziennik", "Gazeta"),
)

CHINESE = Vocabulary(
    language="zh",
    headline="{place}：{actor}{verb}{object}",
    actors=("交通部", "地方法院", "市议会", "中央银行", "天文学家小组", "教师工会", "国家图书馆", "气象局", "足球协会"),
    verbs=("推迟", "批准", "公布", "取消", "修改", "审查"),
    objects=(
        "夜间列车计划",
        "新学校预算",
        "河流洪水研究",
        "票价上涨方案",
        "小农场扶持项目",
        "租房规定",
        "自行车道规划",
        "旧桥维修工程",
        "疫苗试验",
    ),
    places=("上海", "成都", "台北", "广州", "新加坡"),
    sentences=(
        "{place}消息，{actor}{verb}{object}。",
        "约{number}人参加了意见征询。",
        "批评者指出费用将达{number}万元。",
        "预计{small}周内作出决定。",
        "一位参与者说：“每个数字我们都核对了两遍。”",
        "详情将于星期五公布。",
    ),
    names=("日报", "晚报", "新闻"),
    joint="",
)

VOCABULARIES = (ENGLISH, GERMAN, FRENCH, SPANISH, POLISH, CHINESE)
SHARES = (0.5, 0.14, 0.11, 0.11, 0.08, 0.06)  # of the sources, in the order of VOCABULARIES
CATEGORIES = ("Politics", "Economy", "Science", "Culture", "Sport", "Technology", "Local")
