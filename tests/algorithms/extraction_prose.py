"""Stories for pages made by hand: a tuple of paragraphs each, all of them invented."""

BRIDGE = (
    "The council of Marrow voted by nineteen to six on Tuesday evening to keep the old iron bridge open to walkers.",
    "Engineers had warned since last summer that two of its pillars, sunk in 1911, were being eaten by the tide. "
    "Cars were sent round by the ring road in October, which adds eleven minutes to the way to the hospital.",
    "“We have been told for nine years that the money is about to come,” said Hanna Quist, who runs the bakery on the "
    "eastern bank. “Now somebody has finally written a date on a piece of paper.”",
    "The repair will cost about four million crowns, a third of which the county has promised to carry. The rest is "
    "taken from a fund that was meant for street lamps, so that some villages will stay dark for another winter.",
    "Critics doubt whether the timetable can be kept. Ice usually closes the river to barges until the middle of "
    "April, and without barges nobody can bring the sheet piles that the plan asks for.",
    "A second vote, on a new crossing downstream, was put off until the autumn because the drawings had arrived late.",
)
FERRY = (
    "Nobody was hurt when the night ferry from Ostrava Bay ran onto a sandbank shortly after three in the morning.",
    "The ship, with 212 passengers and a cargo of oranges aboard, had left the fairway to make room for a trawler "
    "whose lights had failed. It sat upright, and the captain decided to wait for the flood instead of calling tugs.",
    "Passengers were given blankets and tea. A brass band that was travelling to a competition played in the bar until "
    "daylight, and several people said afterwards that they had slept worse on calm crossings.",
    "At twenty to nine the water had risen far enough. Two tugs that had been sent as a precaution stood by while the "
    "ferry freed itself, turned, and went on to its harbour at half speed with a scratched but dry hull.",
    "The coastguard has opened an inquiry. It wants to know why the warning about the trawler, which had been on the "
    "air for an hour, reached the bridge of the ferry only when both ships were already in the narrows.",
)
MUSEUM = (
    "For the first time in sixty years the town museum has shown all of the maps that a schoolteacher left to it.",
    "Elias Worm drew every lane, well and pigsty of the valley between 1898 and 1931, mostly on Sundays and always "
    "from the top of a ladder that his pupils had to carry for him.",
    "The result covers eleven walls. Historians prize it because three of the villages were drowned by the reservoir a "
    "few years after his death, and nobody else had thought of measuring them.",
    "Visitors bend down to find the houses of their grandparents. One of them, a retired driver, discovered that the "
    "cherry tree in front of his door is marked on a sheet of 1904, with a note on the quality of its fruit.",
    "The exhibition stays open until the last Sunday of June, and school classes enter free of charge.",
)
LIBRARY = (
    "The mobile library of the northern islands has lent its millionth book, a worn guide to keeping bees.",
    "It went to a boy of ten who had rowed over from the next island because the boat with the shelves does not land "
    "there in bad weather. He was handed a certificate and, at his own wish, a second book on the same subject.",
    "When the service began, with two hundred volumes in fish crates, the council gave it one winter. Forty-one "
    "winters later it calls at twenty-six harbours and carries everything from cookery to Greek tragedy.",
    "Its librarian, Signe Aas, knows most of her readers by the sound of their engines. She says that thrillers are "
    "asked for in November, travel in January, and poetry, to her own surprise, at lambing time.",
    "The engine of the boat itself is to be replaced next year by an electric one, if the harbours get the sockets "
    "that the ministry announced in spring and has not mentioned since.",
)
LIGHTHOUSE = (
    "The lighthouse at Cape Sorrow will not be sold after all, the harbour office said on Friday.",
    "An offer by a hotel chain had been withdrawn after the inspection of the stairs, all 187 of which need repair.",
    "Volunteers may go on showing guests around on the first weekend of every month, at their own risk.",
)
STRIKE = (
    "Bus drivers in four towns of the plain walked out at midnight, and this time the schools stayed shut as well.",
    "The union asks for a break of twenty minutes after every third hour at the wheel. The company that won the routes "
    "in an auction two years ago answers that such a pause would need ninety new drivers, whom it cannot find.",
    "Parents organised lifts in a hurry. In front of the primary school in Birchfield a farmer arrived with a hay cart "
    "and eighteen children on it, none of them late.",
    "The regional minister, who must approve any change of the timetable, has invited both sides for Thursday. She "
    "wants to hear first what became of the money that had been set aside for relief crews.",
    "Economists of the chamber of commerce put the damage at about half a million a day, half of it in small shops. "
    "They add that the same study, made after the strike of 2009, turned out to be twice too gloomy.",
    "If no agreement is found before the weekend, the tram crews of the capital intend to join.",
)
ORCHARD = (
    "A late frost has destroyed most of the apricot blossom along the lower terraces, growers reported on Monday.",
    "In the worst hour thermometers between the walls fell to six degrees below zero. Candles, sprinklers and even two "
    "hired helicopters were of little use, because the cold air had nowhere to flow off.",
    "“My grandfather would have lit old tyres,” said Pavel Dunn, whose family has farmed the slope since the railway "
    "was built. “I watched the numbers on my telephone instead, which feels worse.”",
    "The insurance that the state introduced after the hail of 2017 covers fruit on the tree but not flowers. A change "
    "of that rule lies before parliament, where it has waited for two sessions.",
    "Peaches, which bloom ten days later, seem to have come through. So have the almonds at the upper edge of the "
    "village, where the night was milder by almost four degrees.",
    "Prices in the shops are not expected to move before July, since most of the early fruit comes from the south.",
)
OBSERVATORY = (
    "Astronomers on the high plateau have measured the faintest radio pulse that has ever been followed to its source.",
    "It came from a dwarf galaxy so small that it had escaped every earlier survey. The dish that caught it is an old "
    "one; what is new is a receiver no larger than a shoebox, cooled almost to absolute zero.",
    "“It is like hearing a moth land on the roof while a train goes by,” said Ines Carvalho, who built the receiver "
    "together with two students in a former dairy.",
    "The pulse lasted less than a thousandth of a second and was repeated four times within a week. Such regularity "
    "speaks for a young neutron star in a narrow orbit rather than for an explosion.",
    "Whether the neighbours of the dish will keep quiet is another matter. A wind farm is planned behind the eastern "
    "ridge, and its converters would drown exactly the frequencies that the team needs.",
    "Talks about a shield for the converters are to begin after the harvest, when the mayor has time again.",
)
CHOIR = (
    "The oldest choir of the coast has elected a conductor who is younger than its newest coat.",
    "Mira Lund, nineteen, won the vote of the fifty-three singers on the second ballot. She had led the rehearsals "
    "since the autumn, when her predecessor broke a wrist on the ice and found that he enjoyed the silence.",
    "Her first programme mixes shanties with a mass of 1580. Some of the basses grumbled at so much Latin, she admits, "
    "but they came round when they found out how low the last chord goes.",
    "The concert on the quay is free, and listeners are asked to bring something to sit on. If the wind comes from the "
    "west it moves into the old rope works, where four hundred people can stand.",
    "Next year the choir turns two hundred. The minutes of its first meeting, which survived two fires, record above "
    "all a quarrel about who was to pay for the candles.",
)
HARVEST_TEASER = (
    "A dispute over water has split the three valleys that share the canal, and the harvest begins in nine days.",
    "Whoever opens the gates decides whether maize or vines will be watered first, and for thirty years that has been "
    "the task of a man who kept no books and trusted his own shoes to tell him how wet the ground was.",
    "His retirement in March left a drawer full of keys, most of them unmarked, and a deputy who lives in another "
    "valley. Since then the gates have been opened eleven times without anybody admitting to it.",
)
WALKS = (
    ("The drowned road", "At low water a Roman causeway rises from the lake for three hours, with wheel ruts a hand "
     "deep. Start no later than nine, carry spare socks, and turn back when the reeds begin to move."),
    ("Over the Widow's Saddle", "The steepest of the five, though a chain helps on the last stretch. From the top one "
     "sees both seas on clear days, and the hut sells plum cake until it runs out."),
    ("The quarry loop", "Flat, short and full of lizards, this is the one for children. Bring a torch for the tunnel, "
     "which is dry but bends in the middle so that neither end can be seen."),
    ("Along the mill race", "Eleven mills stood here once, and the wheels of two of them still turn for visitors on "
     "Saturdays. The path follows the water, so nobody can get lost or, sadly, warm in winter."),
    ("The border stones", "Numbered from 1 to 64, they lead through beech wood in which two kingdoms used to meet. "
     "Number 37 is missing: a farmer built it into his oven, where it can be inspected on request."),
)  # fmt: skip
WALKS_LEAD = (
    "The clocks have changed, the huts are opening and the rivers are still full: there is no better month for walking "
    "in the hills. Our reporter tried a dozen paths with wet feet and kept these five."
)
WALKS_END = (
    "All five can be reached by the blue bus, which runs every hour until dusk and takes dogs for half the fare."
)
STORM_LEAD = (
    "A storm with gusts of up to 140 kilometres an hour is crossing the coast, and two valleys are without power. "
    "We report here as it moves inland."
)
STORM = (
    ("18:42", "Power returns to the north", "About nine thousand households have light again, the grid company says. "
     "The remaining four thousand depend on a line that can be mended only from the air, hence not before morning."),
    ("17:15", "Schools stay closed", "No lessons will be held in the six coastal districts on Thursday. Teachers are "
     "asked to come in nevertheless and to look after children whose parents have to work."),
    ("16:03", "A roof in the harbour", "The roof of the fish hall has been lifted and put down again on the car park "
     "behind it, remarkably in one piece. Nobody was inside, since the auction had ended an hour before."),
    ("14:30", "Trains are held back", "The railway keeps all trains to the west at the junction until a fallen poplar "
     "is off the line. Passengers are given soup by the fire brigade, who had cooked for themselves."),
    ("13:08", "First warning of the day", "Meteorologists raise the warning to its highest level and ask everybody "
     "to stay away from piers. The ferry to the islands makes its last crossing, half empty and very quickly."),
)  # fmt: skip
MARKET = (
    "On the last Saturday of the month the horse market of Linden begins before sunrise, with a bell and a sermon.",
    "Dealers come from four countries and speak a language of their own in which numbers are tapped onto the palm of "
    "the other's hand. Nobody else is supposed to learn the price, and nobody ever does.",
    "Our photographer spent fourteen hours among hooves, brass and fried dough. She was kicked once, gently, and "
    "offered a mule for her second camera.",
    "By nightfall three hundred animals had changed hands, and the square was swept before the clock struck ten.",
)
MARKET_CAPTIONS = (
    "A grey mare waits for her new owner beside the fountain. Photo: Lena Ort",
    "Two dealers settle a price under a folded newspaper. Photo: Lena Ort",
    "Doughnuts are fried in a cauldron from the last century. Photo: Lena Ort",
)
CHINESE = (
    "市议会星期二晚上以十九票对六票通过决议，决定保留横跨河面的老铁桥，继续供行人使用。",
    "工程师从去年夏天起就发出警告，说一九一一年打下的两座桥墩正被潮水侵蚀。十月以后汽车只能绕行环城公路，去医院的路程因此多出十一分钟。",
    "“九年来一直有人告诉我们，钱马上就到，”在东岸开面包店的林女士说，“现在终于有人在纸上写下了日期。”",
    "修缮费用约为四百万元，其中三分之一由县政府承担，其余部分将从原本用于路灯的基金中支出，因此有几个村庄还要再过一个没有灯光的冬天。",
    "反对者怀疑工期能否如期完成。河面通常要到四月中旬才解冻，而没有驳船就无法运来计划所需的钢板桩。",
    "关于下游新桥的表决因为图纸迟到而推迟到秋天举行。",
)
ARABIC = (
    "قرر مجلس المدينة مساء الثلاثاء بأغلبية تسعة عشر صوتا مقابل ستة أصوات إبقاء الجسر الحديدي القديم مفتوحا للمشاة.",
    "وكان المهندسون قد حذروا منذ الصيف الماضي من أن اثنين من أعمدته يتآكلان بفعل مياه المد، ومنذ أكتوبر تسلك السيارات "
    "الطريق الدائري، وهو ما يضيف إحدى عشرة دقيقة إلى الطريق نحو المستشفى.",
    "وقالت صاحبة مخبز على الضفة الشرقية إن الناس سمعوا طوال تسعة أعوام أن المال في الطريق، وإن أحدا كتب أخيرا موعدا "
    "على الورق.",
    "وتبلغ كلفة الإصلاح نحو أربعة ملايين، تتحمل المحافظة ثلثها، أما الباقي فيؤخذ من صندوق كان مخصصا لمصابيح الشوارع، "
    "ولذلك ستبقى بعض القرى مظلمة شتاء آخر.",
    "ويشك المنتقدون في إمكان الالتزام بالجدول الزمني، لأن الجليد يغلق النهر عادة أمام الصنادل حتى منتصف أبريل.",
    "وأرجئ التصويت على معبر جديد في اتجاه المصب إلى الخريف لأن الرسوم وصلت متأخرة.",
)
COMMENTS = (
    "I climbed those stairs as a child and counted 190, so either three have fallen off or I could not count. Either "
    "way somebody should put up a handrail before the next school trip, because the draught up there is frightening.",
    "The hotel would have closed the path to the beach. I for one am glad, and I say so although my cousin had hoped "
    "for work in the kitchen. There are other kitchens, and there is only one path that a pram can manage.",
    "Can we talk about the fog horn instead? It has been silent since the spring, and the harbour office answers every "
    "letter with the same printed card. My late husband repaired it twice with nothing but a bicycle pump.",
    "People forget that the volunteers pay for the paint themselves. Two coats every fourth year, sixty litres of it, "
    "and red is the most expensive of all. Put a tin next to the door and I shall fill it whenever I come by.",
    "It was never for sale in the first place. The deed of 1874 says that the land falls back to the parish when the "
    "light goes out, and whoever wrote that offer evidently did not read further than the first page.",
    "My students visit every May to measure the shadow of the tower and to compute the size of the earth. Their "
    "best result is four per cent off, which is better than the ancients and better than our textbook.",
)
CONSENT = (
    "We value your privacy. We and our 842 partners store and access information on your device, such as unique "
    "identifiers in cookies, to process personal data for the purposes described below.",
    "With your permission we may use precise geolocation data and identification through the scanning of devices. You "
    "may click to consent to this processing, or refuse it, or look at more detailed information first.",
    "Please note that some processing of your personal data may not require your consent, but you have a right to "
    "object to it. Your preferences apply to this website only, and you can change them at any time.",
    "Strictly necessary cookies are required for the operation of the site. Analytical cookies allow us to count "
    "visitors and to see how they move around, which helps us to improve the way that the pages work.",
    "Advertising partners use the data to build a profile of your interests and to show you relevant advertisements on "
    "other sites. If you do not allow it, you will see less targeted advertising, though not less of it.",
)
