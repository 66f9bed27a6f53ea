package bounces

// detector reads one family of reports.
type detector struct {
	name string
	// daemon: asked only about mail that a mail system seems to have written. The others
	// know their family by signs of their own.
	daemon bool
	find   func(*mail) []Result
}

// detectors are asked in this order; the first that finds a recipient is believed.
var detectors = []detector{
	{"rfc3464", false, rfc3464},
	{"rfc3464-text", false, rfc3464Text},
	{"amazonses-json", false, amazonJSON},
	{"sieve", false, sieve},
	{"postfix", true, postfix},
	{"googlegroups", true, googleGroups},
	{"gmail", true, gmail},
	{"exim", true, exim},
	{"sendmail", true, sendmail},
	{"sendmail5", true, sendmail5},
	{"dragonfly", true, dragonfly},
	{"opensmtpd", true, openSMTPD},
	{"exchange", true, exchange},
	{"domino", true, domino},
	{"notes", true, notes},
	{"imail", true, iMail},
	{"mfilter", false, mFilter},
	{"mailmarshal", true, mailMarshal},
	{"mailenable", true, mailEnable},
	{"zoho", true, zoho},
	{"x6", true, x6},
	{"interscan", true, interScan},
	{"netscape", true, netscape},
	{"aol", true, aol},
	{"yale", true, yale},
	{"jp-carriers", false, carriers},
	{"verizon", false, verizon},
	{"james", false, james},
	{"fml", false, fml},
	{"qmail", true, qmail},
	{"listed", true, listed},
	{"inline", true, inline},
	{"failed-recipients", true, failedRecipients},
	{"spoken", true, spoken},
}
