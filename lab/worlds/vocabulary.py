"""Words from which texts are composed, language by language.

Every verb fits every object, so that all sentences are grammatical. Made-up names distinguish events, and so do the
sentences, of which each event has a few. An object has one common noun, as two in common already look like one event.
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
    """Parts of sentences; `headline` and `sentences` are put together with str.format.

    Names are used as they are, without article, gender or case. `small` is a number from 2 to 12, so that a Polish noun
    after it must be in a case that is the same for all of them.
    """

    language: str
    headline: str
    verbs: tuple[str, ...]
    objects: tuple[str, ...]
    places: tuple[str, ...]
    sentences: tuple[str, ...]  # the first one opens every text
    names: tuple[str, ...]  # of newspapers; the place is added
    joint: str = " "  # between sentences
    syllables: tuple[str, ...] = _SYLLABLES  # of the names of people and firms
    syllables_of_a_name: tuple[int, ...] = (3, 3)  # of each word; two outweigh a verb and an object that events share


# fmt: off
ENGLISH = Vocabulary(
    language="en",
    headline="{person} {verb} {object}",
    verbs=(
        "postpones", "approves", "questions", "presents", "cancels", "defends", "expands", "reviews", "rejects",
        "criticises", "supports", "delays", "praises", "explains", "debates",
    ),
    objects=(
        "the train to {town}", "the budget of {town}", "the dam above {town}", "the fares in {town}",
        "the {firm} farms", "the rents in {town}", "the cycleway to {town}", "the {firm} telescope",
        "the match in {town}", "the bridge at {town}", "the {firm} vaccine", "the archive of {town}", "the {firm} tax",
        "the harbour of {town}", "the museum of {town}", "the {firm} ferry", "the tram to {town}",
        "the festival in {town}", "the {firm} subsidy", "the school in {town}", "the {firm} satellite",
        "the market in {town}", "the {firm} merger", "the airport of {town}", "the theatre of {town}",
        "the {firm} reactor", "the zoo in {town}", "the library of {town}",
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
        "Drivers at {firm} walked out for {small} hours and want higher pay for night shifts.",
        "A court in {town} dismissed the lawsuit of {small} landowners without hearing witnesses.",
        "Only {small} bidders answered the tender, and {firm} offered the lowest price.",
        "Heavy rain flooded cellars in {suburb} and kept the fire brigade busy until dawn.",
        "Insurers put the damage at {number} thousand, far less than {person} had feared.",
        "Engineers found cracks in {small} concrete pillars and closed the lower deck at once.",
        "Volunteers from {suburb} planted {number} trees along the river during the spring holidays.",
        "Auditors criticise missing receipts and unusually generous travel expenses at {firm}.",
        "Neighbours complain about noise from lorries that rumble through {suburb} before sunrise.",
        "The primary school in {suburb} teaches {small} classes in containers while its roof is mended.",
        "A petition against {object} gathered {number} signatures in a single weekend.",
        "The bank demands collateral before it grants {firm} another cheap loan.",
        "Archaeologists uncovered Roman coins, pottery and the foundations of a mill near {venue}.",
        "Sensors under the asphalt count cyclists and warn of ice, {firm} explains.",
        "Late deliveries of steel and cable have delayed the opening until next winter, {person} admits.",
        "Boats between {town} and {suburb} stay moored whenever waves exceed {small} metres.",
        "{critic} wants an independent inquiry by retired judges instead of another working group.",
        "Biologists spotted otters, herons and a rare orchid on the meadow behind {venue}.",
        "The opposition left the council chamber before {person} could finish the speech.",
        "A power cut darkened {number} households, and traffic lights in {suburb} failed.",
        "Hotels and restaurants around {venue} hope for tourists from abroad this summer.",
    ),
    names=("Courier", "Herald", "Observer", "Gazette", "Tribune"),
)

GERMAN = Vocabulary(
    language="de",
    headline="{person} {verb} {object}",
    verbs=(
        "verschiebt", "genehmigt", "prüft", "verteidigt", "verwirft", "erweitert", "überarbeitet", "kritisiert",
        "unterstützt", "verzögert", "lobt", "erläutert", "erörtert", "vertagt",
    ),
    objects=(
        "den Nachtzug nach {town}", "den Haushalt von {town}", "den Damm bei {town}", "die Fahrpreise in {town}",
        "die Förderung von {firm}", "die Mieten in {town}", "die Radwege in {town}", "das Radioteleskop {firm}",
        "die Brücke in {town}", "den Impfstoff von {firm}", "die Fähre nach {town}", "den Wochenmarkt in {town}",
        "das Museum in {town}", "den Tarifvertrag von {firm}", "die Kläranlage bei {town}", "das Stadtfest in {town}",
        "die Straßenbahn nach {town}", "das Theater in {town}", "den Flughafen bei {town}", "die Fusion von {firm}",
        "den Satelliten von {firm}", "die Grundsteuer in {town}", "den Zoo in {town}", "die Bibliothek in {town}",
        "das Kraftwerk {firm}", "die Klinik in {town}", "die Schulreform in {town}", "den Windpark bei {town}",
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
        "Die Gewerkschaft ruft bei {firm} zu einem Warnstreik von {small} Stunden auf.",
        "Das Verwaltungsgericht wies die Klage von {small} Anwohnern aus {suburb} als unbegründet ab.",
        "Bei der Ausschreibung gab {firm} unter {small} Bietern das günstigste Angebot ab.",
        "Starkregen überflutete Keller in {suburb} und hielt die Feuerwehr bis zum Morgen in Atem.",
        "Versicherer schätzen den Schaden auf {number} Millionen, weit weniger als {person} befürchtet hatte.",
        "Ingenieure fanden Risse in {small} Betonpfeilern und sperrten sofort die untere Fahrbahn.",
        "Freiwillige aus {suburb} pflanzten in den Osterferien {number} Bäume am Flussufer.",
        "Der Rechnungshof bemängelt fehlende Belege und überhöhte Reisekosten bei {firm}.",
        "Nachbarn klagen über den Lärm der Lastwagen, die vor Sonnenaufgang durch {suburb} rollen.",
        "Die Grundschule in {suburb} unterrichtet {small} Klassen in Containern, solange das Dach undicht ist.",
        "Eine Petition gegen {object} erhielt binnen eines Wochenendes {number} Unterschriften.",
        "Die Sparkasse verlangt Sicherheiten, bevor sie {firm} einen weiteren Kredit gewährt.",
        "Archäologen legten neben dem {venue} römische Münzen, Tonscherben und die Mauern einer Mühle frei.",
        "Sensoren im Asphalt zählen Radfahrer und warnen vor Glatteis, erklärt {firm}.",
        "Weil Stahl und Kabel verspätet geliefert werden, verzögert sich die Eröffnung um {small} Monate.",
        "Boote zwischen {town} und {suburb} bleiben vertäut, sobald die Wellen {small} Meter erreichen.",
        "{critic} fordert statt eines Arbeitskreises eine Untersuchung durch pensionierte Richter.",
        "Biologen beobachteten auf der Wiese hinter dem {venue} Fischotter, Reiher und eine seltene Orchidee.",
        "Die Opposition verließ den Ratssaal, bevor {person} die Rede beenden konnte.",
        "Ein Stromausfall traf {number} Haushalte, auch die Ampeln von {suburb} blieben dunkel.",
        "Hoteliers und Wirte rund um das {venue} hoffen im Sommer auf Urlauber aus dem Ausland.",
        "Alte Fotografien zeigen Straßenbahnen, Gaslaternen und eine Brauerei, wo heute das {venue} steht.",
        "Ärzte der Klinik in {town} behandelten {small} Verletzte, inzwischen sind alle entlassen.",
    ),
    names=("Anzeiger", "Rundschau", "Tageblatt", "Zeitung"),
)

FRENCH = Vocabulary(
    language="fr",
    headline="{person} {verb} {object}",
    verbs=(
        "reporte", "approuve", "conteste", "présente", "annule", "défend", "réexamine", "critique", "soutient",
        "retarde", "salue", "explique", "suspend", "étudie",
    ),
    objects=(
        "le train pour {town}", "le budget de {town}", "le barrage de {town}", "les tarifs de {firm}",
        "les fermes de {town}", "les loyers à {town}", "le port de {town}", "le pont de {town}", "le vaccin de {firm}",
        "le musée de {town}", "le tramway de {town}", "le festival de {town}", "le télescope de {firm}",
        "les horaires de {firm}", "la taxe de {firm}", "les égouts de {town}", "le marché de {town}",
        "le théâtre de {town}", "l’aéroport de {town}", "la fusion de {firm}", "le satellite de {firm}",
        "le zoo de {town}", "la bibliothèque de {town}", "la centrale de {firm}", "l’hôpital de {town}",
        "le cirque de {town}", "le laboratoire de {firm}", "les subventions de {firm}",
    ),
    places=("Lyon", "Nantes", "Genève", "Bruxelles", "Lille", "Montréal"),
    sentences=(
        "{person} {verb} {object}, a annoncé {critic} à {town}.",
        "Environ {number} personnes de {suburb} sont venues au {venue}.",
        "{critic} estime le contrat avec {firm} à {number} millions.",
        "{person} attend une décision au {venue} dans {small} semaines.",
        "« Nous avons vérifié chaque chiffre deux fois », dit {person}.",
        "{firm} donnera les détails vendredi à {suburb}.",
        "Le syndicat appelle les chauffeurs de la société {firm} à une grève de {small} heures.",
        "Le tribunal a rejeté la plainte de {small} riverains du quartier {suburb} sans entendre de témoins.",
        "Seules {small} entreprises ont répondu à l’appel d’offres, et {firm} proposait le prix le plus bas.",
        "De fortes pluies ont inondé des caves à {suburb} et mobilisé les pompiers jusqu’à l’aube.",
        "Les assureurs évaluent les dégâts à {number} millions, bien moins que ne le craignait {person}.",
        "Des ingénieurs ont découvert des fissures dans {small} piliers en béton et aussitôt fermé une voie.",
        "Des bénévoles du quartier {suburb} ont planté {number} arbres le long de la rivière.",
        "Les auditeurs relèvent chez {firm} des factures manquantes et des frais de voyage excessifs.",
        "Les voisins se plaignent du bruit des camions qui traversent {suburb} avant le lever du soleil.",
        "Une école primaire à {suburb} accueille {small} classes dans des préfabriqués, car le toit fuit.",
        "Une pétition contre {object} a recueilli {number} signatures en un seul week-end.",
        "La banque exige des garanties avant d’accorder un nouveau prêt à {firm}.",
        "Des archéologues ont mis au jour des monnaies romaines et les fondations d’un moulin à {town}.",
        "Des capteurs sous la chaussée comptent les cyclistes et signalent le verglas, explique {firm}.",
        "Faute d’acier et de câbles, l’inauguration prendra {small} mois de retard, reconnaît {person}.",
        "Les bateaux entre {town} et {suburb} restent à quai quand les vagues dépassent {small} mètres.",
        "{critic} réclame une enquête indépendante menée par des juges à la retraite.",
        "Des biologistes ont aperçu une loutre, des hérons et une orchidée rare près du {venue}.",
        "L’opposition a quitté la salle du conseil avant que {person} ne termine son discours.",
        "Une panne de courant a touché {number} foyers et éteint les feux de circulation à {suburb}.",
        "Hôteliers et restaurateurs autour du {venue} espèrent des touristes étrangers cet été.",
        "De vieilles photographies montrent un kiosque et une brasserie à la place du {venue}.",
        "Les médecins ont soigné {small} blessés à {town}, tous ont regagné leur domicile.",
        "Une crèche gratuite accueillera les enfants des {small} familles relogées à {suburb}.",
    ),
    names=("Le Courrier", "La Dépêche", "L’Écho", "La Tribune"),
)

SPANISH = Vocabulary(
    language="es",
    headline="{person} {verb} {object}",
    verbs=(
        "aplaza", "aprueba", "cuestiona", "presenta", "cancela", "defiende", "revisa", "critica", "apoya", "retrasa",
        "elogia", "explica", "suspende", "estudia",
    ),
    objects=(
        "el tren a {town}", "el presupuesto de {town}", "la presa de {town}", "las tarifas de {firm}",
        "las granjas de {town}", "los alquileres en {town}", "el puerto de {town}", "el puente de {town}",
        "la vacuna de {firm}", "el museo de {town}", "el tranvía de {town}", "el festival de {town}",
        "el telescopio de {firm}", "los horarios de {firm}", "el impuesto de {firm}", "el mirador de {town}",
        "el mercado de {town}", "el teatro de {town}", "el aeropuerto de {town}", "la fusión de {firm}",
        "el satélite de {firm}", "el zoo de {town}", "la biblioteca de {town}", "la central de {firm}",
        "el hospital de {town}", "el circo de {town}", "el acueducto de {town}", "las ayudas de {firm}",
    ),
    places=("Bilbao", "Sevilla", "Bogotá", "Rosario", "Valencia", "Montevideo"),
    sentences=(
        "{person} {verb} {object}, según dijo {critic} en {town}.",
        "Unas {number} personas de {suburb} acudieron al {venue}.",
        "{critic} cifra el contrato con {firm} en {number} millones.",
        "{person} espera una decisión en el {venue} en {small} semanas.",
        "«Revisamos cada cifra dos veces», dijo {person}.",
        "{firm} dará los detalles el viernes en {suburb}.",
        "El sindicato convoca a los conductores de {firm} a una huelga de {small} horas.",
        "Un juzgado de {town} desestimó la demanda de {small} propietarios sin escuchar a los testigos.",
        "Solo {small} empresas participaron en la licitación; {firm} ofreció el precio más bajo.",
        "Las fuertes lluvias inundaron sótanos en {suburb} y ocuparon a los bomberos hasta el amanecer.",
        "Las aseguradoras estiman los daños en {number} millones, mucho menos de lo que temía {person}.",
        "Los ingenieros hallaron grietas en {small} pilares de hormigón y cerraron enseguida la calzada.",
        "Voluntarios de {suburb} plantaron {number} árboles junto al río durante las vacaciones de primavera.",
        "Los auditores critican facturas perdidas y gastos de viaje excesivos en {firm}.",
        "Los vecinos se quejan del ruido de los camiones que atraviesan {suburb} antes del alba.",
        "La escuela primaria de {suburb} imparte clase en {small} barracones porque el tejado tiene goteras.",
        "Una petición contra {object} reunió {number} firmas en un solo fin de semana.",
        "El banco exige avales antes de conceder otro préstamo barato a {firm}.",
        "Unos arqueólogos desenterraron monedas romanas, cerámica y los cimientos de un molino en {town}.",
        "Sensores bajo el asfalto cuentan ciclistas y avisan del hielo, explica {firm}.",
        "La falta de acero y cables retrasa {small} meses la inauguración, reconoce {person}.",
        "Los barcos de {town} a {suburb} quedan amarrados cuando las olas superan los {small} metros.",
        "{critic} reclama una investigación independiente a cargo de jueces jubilados.",
        "Los biólogos avistaron nutrias, garzas y una orquídea rara en el prado detrás del {venue}.",
        "La oposición abandonó el pleno municipal antes de que {person} terminara el discurso.",
        "Un apagón dejó a oscuras {number} hogares y averió los semáforos de {suburb}.",
        "Hoteles y restaurantes alrededor del {venue} confían en los turistas extranjeros este verano.",
        "Viejas fotografías muestran farolas de gas y una cervecería donde hoy se levanta el {venue}.",
        "Los médicos atendieron a {small} heridos en {town}; todos han vuelto ya a casa.",
        "Una guardería gratuita acogerá a los niños de {small} familias realojadas en {suburb}.",
    ),
    names=("El Correo", "La Voz", "El Diario", "La Crónica"),
)

POLISH = Vocabulary(
    language="pl",
    headline="{town}: {person} {verb} {object}",
    verbs=(
        "przesuwa", "zatwierdza", "przedstawia", "odwołuje", "odrzuca", "sprawdza", "krytykuje", "popiera", "opóźnia",
        "chwali", "omawia", "wstrzymuje", "kwestionuje",
    ),
    objects=(
        "pociąg {firm}", "budżet {firm}", "zaporę {firm}", "bilety {firm}", "gospodarstwa {firm}", "najem {firm}",
        "port {firm}", "most {firm}", "szczepionkę {firm}", "festiwal {firm}", "prom {firm}", "podatek {firm}",
        "tramwaj {firm}", "teleskop {firm}", "wystawę {firm}", "basen {firm}", "targ {firm}", "teatr {firm}",
        "lotnisko {firm}", "fuzję {firm}", "satelitę {firm}", "zoo {firm}", "bibliotekę {firm}", "elektrownię {firm}",
        "szpital {firm}", "reformę {firm}", "akwarium {firm}", "dotację {firm}",
    ),
    places=("Gdańsk", "Łódź", "Kraków", "Poznań", "Lublin"),
    sentences=(
        "Jak podaje {critic}, {person} {verb} {object}.",
        "Do sali {venue} przyszło {number} osób z osiedla {suburb}.",
        "{critic} mówi o umowie z firmą {firm} za {number} mln zł.",
        "{person} czeka w sali {venue} na decyzję w ciągu {small} tygodni.",
        "„Każdą liczbę sprawdziliśmy dwa razy” – mówi {person}.",
        "Firma {firm} poda szczegóły w piątek, {suburb} czeka.",
        "Związkowcy w firmie {firm} zapowiadają strajk kierowców, jeśli płace za nocne zmiany nie wzrosną.",
        "Sąd oddalił pozew {small} mieszkańców osiedla {suburb} bez przesłuchania świadków.",
        "Do przetargu stanęło {small} oferentów, a najniższą cenę podała firma {firm}.",
        "Ulewy zalały piwnice na osiedlu {suburb}, strażacy pracowali aż do świtu.",
        "Ubezpieczyciele szacują szkody na {number} tys. zł, dużo mniej, niż przewiduje {person}.",
        "Inżynierowie znaleźli pęknięcia w {small} filarach i natychmiast zamknęli dolną jezdnię.",
        "Ochotnicy z osiedla {suburb} posadzili podczas wiosennych ferii {number} drzew wzdłuż rzeki.",
        "Kontrolerzy wytykają firmie {firm} brak rachunków i zbyt hojne delegacje.",
        "Sąsiedzi skarżą się na hałas ciężarówek, które przed wschodem słońca mijają osiedle {suburb}.",
        "Szkoła na osiedlu {suburb} uczy dzieci w {small} kontenerach, bo trwa remont dachu.",
        "Petycję „Ratujmy {object}” podpisało w jeden weekend {number} obywateli miasta {town}.",
        "Bank żąda zabezpieczeń, zanim udzieli firmie {firm} kolejnego taniego kredytu.",
        "Archeolodzy odkryli obok sali {venue} rzymskie monety, ceramikę i fundamenty młyna.",
        "Czujniki pod asfaltem liczą rowerzystów i ostrzegają przed lodem – wyjaśnia firma {firm}.",
        "Stal i kable docierają z opóźnieniem, więc otwarcie nastąpi po {small} miesiącach, przyznaje {person}.",
        "Łodzie do miasta {town} stoją przy nabrzeżu, gdy fale sięgają {small} metrów.",
        "{critic} domaga się niezależnego śledztwa prowadzonego przez emerytowanych sędziów.",
        "Przyrodnicy wypatrzyli wydry, czaple i rzadki storczyk na łące za osiedlem {suburb}.",
        "Opozycja wychodzi z obrad rady, zanim {person} kończy przemówienie.",
        "Awaria prądu dotknęła {number} domów, na osiedlu {suburb} zgasły latarnie.",
        "Hotele i restauracje wokół sali {venue} liczą latem na zagranicznych turystów.",
        "Na starych fotografiach widać dorożki, pompę i browar w miejscu sali {venue}.",
        "Szpital w mieście {town} przyjął {small} rannych, wszyscy wrócili już do domu.",
        "Rodziny przeniesione na osiedle {suburb} dostaną bezpłatny żłobek i plac zabaw.",
    ),
    names=("Kurier", "Głos", "Dziennik", "Gazeta"),
)

CHINESE = Vocabulary(
    language="zh",
    headline="{person}{verb}{object}",
    verbs=("推迟", "批准", "公布", "取消", "修改", "审查", "批评", "支持", "搁置", "称赞", "解释", "讨论", "质疑"),
    objects=(
        "{town}列车", "{town}预算", "{town}水坝", "{firm}票价", "{town}农场", "{town}房租", "{town}港口", "{town}大桥",
        "{firm}疫苗", "{town}灯会", "{firm}渡轮", "{town}地铁", "{firm}矿山", "{town}公园", "{firm}补贴", "{town}影院",
        "{town}市场", "{town}剧院", "{town}机场", "{firm}债券", "{firm}卫星", "{town}选举", "{town}渔港", "{firm}电站",
        "{town}医院", "{town}灯塔", "{firm}油田", "{firm}奖金",
    ),
    places=("上海", "成都", "台北", "广州", "新加坡"),
    sentences=(
        "{critic}在{town}表示，{person}{verb}{object}。",
        "约{number}名{suburb}居民来到{venue}。",
        "{critic}指出，{firm}公司的合同达{number}万元。",
        "{person}预计{small}周内在{venue}作出决定。",
        "{person}说：“每个数字我们都核对了两遍。”",
        "{firm}公司星期五在{suburb}公布详情。",
        "{firm}公司司机要求提高夜班工资，罢工{small}小时。",
        "法院未听取证人陈述，便驳回了{suburb}{small}户业主的诉讼。",
        "仅有{small}家企业参加投标，{firm}公司报价最低。",
        "暴雨淹没了{suburb}的地下室，消防员一直忙到天亮。",
        "保险公司估计损失为{number}万元，远低于{person}此前的担心。",
        "工程师在{small}根混凝土桥墩上发现裂缝，立即封闭了下层车道。",
        "来自{suburb}的志愿者春假期间沿河种下{number}棵树。",
        "审计人员批评{firm}公司票据缺失、差旅费过高。",
        "邻居们抱怨卡车日出前驶过{suburb}，噪音扰人。",
        "{suburb}小学屋顶漏水，{small}个班级只好在板房里上课。",
        "反对{object}的请愿书一个周末就征集到{number}个签名。",
        "银行要求{firm}公司提供担保，才肯再发放低息贷款。",
        "考古学家在{venue}附近发掘出古钱币、陶器和磨坊地基。",
        "{firm}公司解释说，路面下的传感器统计骑车人数并预警结冰。",
        "{person}承认，由于钢材和电缆迟迟未到，开业将晚{small}个月。",
        "浪高超过{small}米时，往返{town}与{suburb}的船只停航。",
        "{critic}要求由退休法官展开独立调查，而不是再设工作组。",
        "生物学家在{venue}后面的草地上看到水獭、苍鹭和罕见的兰花。",
        "反对派议员在{person}发言结束前离开了会议厅。",
        "停电影响{number}户家庭，{suburb}的红绿灯全部熄灭。",
        "{venue}周边的酒店和餐馆期待今夏迎来外国游客。",
        "老照片显示，{venue}旧址曾有马车、煤气灯和啤酒厂。",
        "{town}医院收治{small}名伤者，目前均已回家休养。",
        "迁入{suburb}的{small}个家庭将获得免费托儿服务。",
    ),
    names=("日报", "晚报", "新闻"),
    joint="",
    syllables=tuple(
        "安柏达恩方高华金凯林明宁彭秦瑞山唐文夏元泽周丹东杜范冯甘葛桂海韩何洪侯胡吉纪嘉江康孔兰乐雷黎梁廖龙卢鲁陆罗"
        "马毛孟苗莫牧南倪欧潘裴平齐钱乔丘任荣沙尚邵申沈石宋苏孙谭陶田童涂万汪韦温翁吴武萧谢辛邢徐许薛严颜杨姚叶易殷"
        "尹于余袁岳曾詹张赵郑钟朱庄卓宗邹"
    ),
    syllables_of_a_name=(4,),
)
# fmt: on

VOCABULARIES = (ENGLISH, GERMAN, FRENCH, SPANISH, POLISH, CHINESE)
SHARES = (0.5, 0.14, 0.11, 0.11, 0.08, 0.06)  # of the sources, in the order of VOCABULARIES
CATEGORIES = ("Politics", "Economy", "Science", "Culture", "Sport", "Technology", "Local")
