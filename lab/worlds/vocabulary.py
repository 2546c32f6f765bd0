"""Words from which texts are composed, language by language.

Every verb fits every object, so that all sentences are grammatical. Made-up names distinguish events.
"""

from dataclasses import dataclass

# fmt: off
_SYLLABLES = (
    "ba", "bel", "bor", "bre", "cal", "cor", "cu", "da", "den", "dor", "dro", "el", "fa", "fen", "fi", "gar",
    "gil", "gro", "ha", "hel", "hos", "is", "jo", "jun", "ka", "kel", "kir", "la", "len", "lin", "lo", "lum",
    "mar", "mi", "mon", "mun", "na", "nel", "nor", "o", "os", "pa", "pel", "pi", "por", "ra", "ren", "rin",
    "ros", "ru", "sa", "sel", "sil", "sol", "sta", "ta", "ter", "tim", "tor", "tul", "u", "ul", "va", "ven",
    "vin", "vor", "wal", "wes", "wi", "win", "wor", "ya", "yel", "yor", "za", "zen", "zir", "zu",
)
# fmt: on


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Parts of sentences; `headline` and `sentences` are put together with str.format."""

    language: str
    headline: str
    verbs: tuple[str, ...]
    objects: tuple[str, ...]
    places: tuple[str, ...]
    sentences: tuple[str, ...]
    names: tuple[str, ...]  # of newspapers; the place is added
    joint: str = " "  # between sentences
    syllables: tuple[str, ...] = _SYLLABLES  # of the names of people and firms
    syllables_of_a_name: int = 3


ENGLISH = Vocabulary(
    language="en",
    headline="{person} {verb} {object}",
    verbs=("postpones", "approves", "questions", "presents", "cancels", "defends", "expands", "reviews", "rejects"),
    objects=(
        "the train to {town}",
        "the budget of {town}",
        "the dam above {town}",
        "the fares in {town}",
        "the {firm} farms",
        "the rents in {town}",
        "the cycleway to {town}",
        "the {firm} telescope",
        "the match in {town}",
        "the bridge at {town}",
        "the {firm} vaccine",
        "the archive of {town}",
        "the {firm} tax",
        "the harbour of {town}",
    ),
    places=("Bristol", "Leeds", "Boston", "Toronto", "Dublin", "Cape Town", "Melbourne", "Edinburgh", "Seattle"),
    sentences=(
        "{person} {verb} {object}, {critic} said in {town}.",
        "About {number} people came to {venue} from {suburb}.",
        "{critic} points to the {firm} contract, worth {number} million.",
        "{person} expects a decision at {venue} within {small} weeks.",
        "Residents of {town} and {suburb} have waited {small} years.",
        "“We looked at every figure twice,” said {person}.",
        "{firm} took {small} months longer in {suburb}, {critic} recalls.",
        "{firm} is to publish the details at {venue} on Friday.",
        "Neither {critic} nor {firm} had a comment.",
    ),
    names=("Courier", "Herald", "Observer", "Gazette", "Tribune"),
)

GERMAN = Vocabulary(
    language="de",
    headline="{person} {verb} {object}",
    verbs=("verschiebt", "genehmigt", "prüft", "verteidigt", "verwirft", "erweitert", "überarbeitet"),
    objects=(
        "den Nachtzug nach {town}",
        "den Haushalt von {town}",
        "den Damm bei {town}",
        "die Fahrpreise in {town}",
        "die Förderung von {firm}",
        "die Mieten in {town}",
        "die Radwege in {town}",
        "das Radioteleskop {firm}",
        "die Brücke in {town}",
        "den Impfstoff von {firm}",
    ),
    places=("Bremen", "Leipzig", "Zürich", "Graz", "Köln", "Rostock", "Nürnberg"),
    sentences=(
        "{person} {verb} {object}, sagte {critic} in {town}.",
        "Rund {number} Menschen aus {suburb} kamen ins {venue}.",
        "{critic} verweist auf den Vertrag mit {firm} über {number} Millionen.",
        "{person} erwartet im {venue} eine Entscheidung in {small} Wochen.",
        "In {town} und {suburb} wartet man seit {small} Jahren.",
        "„Wir haben jede Zahl zweimal geprüft“, sagte {person}.",
        "Einzelheiten will {firm} am Freitag im {venue} nennen.",
    ),
    names=("Anzeiger", "Rundschau", "Tageblatt", "Zeitung"),
)

FRENCH = Vocabulary(
    language="fr",
    headline="{person} {verb} {object}",
    verbs=("reporte", "approuve", "conteste", "présente", "annule", "défend", "réexamine"),
    objects=(
        "le train pour {town}",
        "le budget de {town}",
        "le barrage de {town}",
        "les tarifs de {firm}",
        "les fermes de {town}",
        "les loyers à {town}",
        "le port de {town}",
        "le pont de {town}",
        "le vaccin de {firm}",
    ),
    places=("Lyon", "Nantes", "Genève", "Bruxelles", "Lille", "Montréal"),
    sentences=(
        "{person} {verb} {object}, a annoncé {critic} à {town}.",
        "Environ {number} personnes de {suburb} sont venues au {venue}.",
        "{critic} estime le contrat avec {firm} à {number} millions.",
        "{person} attend une décision au {venue} dans {small} semaines.",
        "« Nous avons vérifié chaque chiffre deux fois », dit {person}.",
        "{firm} donnera les détails vendredi à {suburb}.",
    ),
    names=("Le Courrier", "La Dépêche", "L’Écho", "La Tribune"),
)

SPANISH = Vocabulary(
    language="es",
    headline="{person} {verb} {object}",
    verbs=("aplaza", "aprueba", "cuestiona", "presenta", "cancela", "defiende", "revisa"),
    objects=(
        "el tren a {town}",
        "el presupuesto de {town}",
        "la presa de {town}",
        "las tarifas de {firm}",
        "las granjas de {town}",
        "los alquileres en {town}",
        "el puerto de {town}",
        "el puente de {town}",
        "la vacuna de {firm}",
    ),
    places=("Bilbao", "Sevilla", "Bogotá", "Rosario", "Valencia", "Montevideo"),
    sentences=(
        "{person} {verb} {object}, según dijo {critic} en {town}.",
        "Unas {number} personas de {suburb} acudieron al {venue}.",
        "{critic} cifra el contrato con {firm} en {number} millones.",
        "{person} espera una decisión en el {venue} en {small} semanas.",
        "«Revisamos cada cifra dos veces», dijo {person}.",
        "{firm} dará los detalles el viernes en {suburb}.",
    ),
    names=("El Correo", "La Voz", "El Diario", "La Crónica"),
)

POLISH = Vocabulary(
    language="pl",
    headline="{town}: {person} {verb} {object}",
    verbs=("przesuwa", "zatwierdza", "przedstawia", "odwołuje", "odrzuca", "sprawdza"),
    objects=(
        "pociąg {firm}",
        "budżet {firm}",
        "zaporę {firm}",
        "bilety {firm}",
        "gospodarstwa {firm}",
        "najem {firm}",
        "port {firm}",
        "most {firm}",
        "szczepionkę {firm}",
    ),
    places=("Gdańsk", "Łódź", "Kraków", "Poznań", "Lublin"),
    sentences=(
        "Jak podaje {critic}, {person} {verb} {object}.",
        "Do sali {venue} przyszło {number} osób z osiedla {suburb}.",
        "{critic} mówi o umowie z firmą {firm} za {number} mln zł.",
        "{person} czeka w sali {venue} na decyzję za {small} tygodni.",
        "„Każdą liczbę sprawdziliśmy dwa razy” – mówi {person}.",
        "Firma {firm} poda szczegóły w piątek, {suburb} czeka.",
    ),
    names=("Kurier", "Głos", "Dziennik", "Gazeta"),
)

CHINESE = Vocabulary(
    language="zh",
    headline="{person}{verb}{object}",
    verbs=("推迟", "批准", "公布", "取消", "修改", "审查"),
    objects=(
        "{town}列车",
        "{town}预算",
        "{town}水坝",
        "{firm}票价",
        "{town}农场",
        "{town}房租",
        "{town}港口",
        "{town}大桥",
        "{firm}疫苗",
    ),
    places=("上海", "成都", "台北", "广州", "新加坡"),
    sentences=(
        "{critic}在{town}表示，{person}{verb}{object}。",
        "约{number}名{suburb}居民来到{venue}。",
        "{critic}指出，{firm}公司的合同达{number}万元。",
        "{person}预计{small}周内在{venue}作出决定。",
        "{person}说：“每个数字我们都核对了两遍。”",
        "{firm}公司星期五在{suburb}公布详情。",
    ),
    names=("日报", "晚报", "新闻"),
    joint="",
    syllables=tuple("安柏达恩方高华金凯林明宁彭秦瑞山唐文夏元泽周"),
)

VOCABULARIES = (ENGLISH, GERMAN, FRENCH, SPANISH, POLISH, CHINESE)
SHARES = (0.5, 0.14, 0.11, 0.11, 0.08, 0.06)  # of the sources, in the order of VOCABULARIES
CATEGORIES = ("Politics", "Economy", "Science", "Culture", "Sport", "Technology", "Local")
