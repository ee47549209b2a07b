package numbers

import "strings"

// callingCodes gives the calling codes of ITU-T E.164 by country (ISO 3166, two letters). Where
// countries share a code they are told apart by the digits that follow: area codes of the North
// American plan, the second digit in +7, and so on. What is not listed, such as satellite
// networks, belongs to no country.
const callingCodes = `
AD 376; AE 971; AF 93; AG 1268; AI 1264; AL 355; AM 374; AO 244; AR 54; AS 1684; AT 43; AU 61; AW 297; AZ 994
BA 387; BB 1246; BD 880; BE 32; BF 226; BG 359; BH 973; BI 257; BJ 229; BM 1441; BN 673; BO 591; BR 55; BS 1242
BT 975; BW 267; BY 375; BZ 501; CD 243; CF 236; CG 242; CH 41; CI 225; CK 682; CL 56; CM 237; CN 86; CO 57; CR 506
CA 1204 1226 1236 1249 1250 1257 1263 1289 1306 1343 1354 1365 1367 1368 1382 1387 1403 1416 1418 1428 1431 1437 1438
CA 1450 1460 1468 1474 1506 1514 1519 1548 1579 1581 1584 1587 1604 1613 1639 1647 1672 1683 1705 1709 1742 1753 1778
CA 1780 1782 1807 1819 1825 1867 1873 1879 1902 1905 1942
CU 53; CV 238; CW 5999; CY 357; CZ 420; DE 49; DJ 253; DK 45; DM 1767; DO 1809 1829 1849; DZ 213; EC 593; EE 372; EG 20
ER 291; ES 34; ET 251; FI 358; FJ 679; FK 500; FM 691; FO 298; FR 33; GA 241; GB 44; GD 1473; GE 995; GF 594; GH 233
GI 350; GL 299; GM 220; GN 224; GP 590; GQ 240; GR 30; GT 502; GU 1671; GW 245; GY 592; HK 852; HN 504; HR 385; HT 509
HU 36; ID 62; IE 353; IL 972; IN 91; IO 246; IQ 964; IR 98; IS 354; IT 39; JM 1876 1658; JO 962; JP 81; KE 254; KG 996
KH 855; KI 686; KM 269; KN 1869; KP 850; KR 82; KW 965; KY 1345; KZ 76 77; LA 856; LB 961; LC 1758; LI 423; LK 94
LR 231; LS 266; LT 370; LU 352; LV 371; LY 218; MA 212; MC 377; MD 373; ME 382; MG 261; MH 692; MK 389; ML 223; MM 95
MN 976; MO 853; MP 1670; MQ 596; MR 222; MS 1664; MT 356; MU 230; MV 960; MW 265; MX 52; MY 60; MZ 258; NA 264; NC 687
NE 227; NF 6723; NG 234; NI 505; NL 31; NO 47; NP 977; NR 674; NU 683; NZ 64; OM 968; PA 507; PE 51; PF 689; PG 675
PH 63; PK 92; PL 48; PM 508; PR 1787 1939; PS 970; PT 351; PW 680; PY 595; QA 974; RE 262; RO 40; RS 381; RU 7; RW 250
SA 966; SB 677; SC 248; SD 249; SE 46; SG 65; SH 290 247; SI 386; SK 421; SL 232; SM 378; SN 221; SO 252; SR 597; SS 211
ST 239; SV 503; SX 1721; SY 963; SZ 268; TC 1649; TD 235; TG 228; TH 66; TJ 992; TK 690; TL 670; TM 993; TN 216; TO 676
TR 90; TT 1868; TV 688; TW 886; TZ 255; UA 380; UG 256; US 1; UY 598; UZ 998; VA 379; VC 1784; VE 58; VG 1284; VI 1340
VN 84; VU 678; WF 681; WS 685; XK 383; YE 967; ZA 27; ZM 260; ZW 263; BQ 5993 5994 5997; BL 590; MF 590; GG 441481
JE 441534; IM 441624; AX 35818; SJ 4779; YT 262269 262639; CX 6189164; CC 6189162; EH 2125288 2125289
`

// longestCode is the most digits a code of the table has.
const longestCode = 7

// countries is callingCodes by code. A code that is listed twice belongs to its first country.
var countries = func() map[string]string {
	byCode := map[string]string{}
	for entry := range strings.FieldsFuncSeq(callingCodes, func(r rune) bool { return r == ';' || r == '\n' }) {
		fields := strings.Fields(entry)
		for _, code := range fields[1:] {
			if _, taken := byCode[code]; !taken {
				byCode[code] = fields[0]
			}
		}
	}
	return byCode
}()

// Country is the country of a phone number in E.164 (ISO 3166, two letters), by its longest known
// calling code; empty: none.
func Country(phone string) string {
	country, _ := longest(countries, phone, longestCode)
	return country
}

// longest is what a table by leading digits has for a number: its longest entry counts.
func longest[V any](table map[string]V, phone string, most int) (v V, found bool) {
	digits := strings.TrimPrefix(phone, "+")
	for n := min(most, len(digits)); n > 0; n-- {
		if v, found = table[digits[:n]]; found {
			return v, true
		}
	}
	return v, false
}

// Known reports whether a country, by its two letters, has a calling code.
func Known(iso string) bool {
	for entry := range strings.FieldsFuncSeq(callingCodes, func(r rune) bool { return r == ';' || r == '\n' }) {
		if country, _, _ := strings.Cut(strings.TrimSpace(entry), " "); strings.EqualFold(country, iso) {
			return true
		}
	}
	return false
}
