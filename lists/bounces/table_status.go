package bounces

// statuses maps subject and detail of an enhanced status code (RFC 3463, RFC 7372, the
// IANA registry, and codes of large receivers) to a reason.
var statuses = map[string]Reason{
	"1.0": UserUnknown, "1.1": UserUnknown, "1.2": HostUnknown, "1.3": UserUnknown, "1.4": Filtered, "1.5": Filtered,
	"1.6": HasMoved, "1.7": Rejected, "1.8": Rejected, "1.9": SystemErr, "1.10": NotAccept, "1.20": UserUnknown,
	"1.350": UserUnknown, "1.351": UserUnknown, "1.90": Speeding,
	"2.0": Filtered, "2.1": Suspend, "2.2": MailboxFull, "2.3": ExceedLimit, "2.4": Filtered, "2.121": Speeding, "2.122": Speeding,
	"3.0": SystemErr, "3.1": SystemFull, "3.2": NotAccept, "3.3": SystemErr, "3.4": MesgTooBig, "3.5": SystemErr, "3.6": NotAccept,
	"4.0": NetworkErr, "4.1": Expired, "4.2": NetworkErr, "4.3": SystemErr, "4.4": HostUnknown, "4.5": SystemFull,
	"4.6": NetworkErr, "4.7": Expired, "4.8": NetworkErr, "4.14": NetworkErr, "4.300": Expired, "4.310": HostUnknown,
	"4.312": NetworkErr, "4.316": Expired, "4.317": FailedSTARTTLS,
	"5.1": SyntaxErr, "5.2": SyntaxErr, "5.3": TooManyConn, "5.4": SyntaxErr, "5.5": SystemErr,
	"6.0": ContentErr, "6.7": NotAccept,
	"7.4": SecurityErr, "7.8": SecurityErr, "7.10": SecurityErr, "7.11": SecurityErr, "7.13": Suspend, "7.14": SecurityErr,
	"7.15": SecurityErr, "7.17": HasMoved, "7.18": HasMoved, "7.19": SystemErr,
	"7.20": AuthFailure, "7.21": AuthFailure, "7.22": AuthFailure, "7.23": AuthFailure, "7.24": AuthFailure, "7.25": RequirePTR,
	"7.26": AuthFailure, "7.27": NotAccept, "7.28": Speeding, "7.29": AuthFailure, "7.30": FailedSTARTTLS,
	"7.32": AuthFailure, "7.40": AuthFailure, "7.509": AuthFailure, "7.515": AuthFailure,
	"7.60": SystemErr, "7.650": BadReputation, "7.64": SecurityErr, "7.700": BadReputation, "7.705": BadReputation,
	"7.708": BadReputation, "7.750": SecurityErr,
	"7.500": SpamDetected, "7.501": SpamDetected, "7.502": SpamDetected, "7.503": SpamDetected, "7.504": SpamDetected,
	"7.505": SpamDetected, "7.506": Blocked, "7.507": Blocked, "7.508": TooManyConn, "7.510": SpamDetected, "7.511": Blocked,
	"7.512": NotCompliantRFC, "7.513": Blocked, "7.606": Blocked, "7.649": Blocked, "7.703": Blocked,
}

// subjects is the reason where only the subject of a status says something.
var subjects = map[string]Reason{"6": ContentErr, "7": SecurityErr}

// frenchCodes are the last three digits of the codes of Orange (OFR) and La Poste (LPN).
var frenchCodes = map[string]Reason{
	"101": Blocked, "102": Blocked, "103": Blocked, "104": TooManyConn, "109": TooManyConn, "403": Rejected, "415": Rejected,
	"416": UserUnknown, "417": MailboxFull, "420": Suspend, "421": Rejected, "422": MailboxFull, "423": Suspend, "426": Suspend,
	"505": SystemErr, "506": SpamDetected, "510": Blocked, "513": MesgTooBig, "514": TooManyConn, "519": Blocked, "630": PolicyViolation,
}

// facebookCodes are those of Facebook's postmaster pages: P is permanent, T temporary.
var facebookCodes = map[string]Reason{
	"pol-p1": Blocked, "pol-p2": Blocked, "pol-p3": Blocked, "pol-p4": Blocked, "pol-t1": Blocked, "pol-t2": Blocked, "pol-t3": Blocked,
	"pol-p5": VirusDetected, "pol-p6": SpamDetected, "pol-p7": AuthFailure,
	"msg-p1": MesgTooBig, "int-p2": MesgTooBig, "msg-p2": ContentErr, "msg-p3": NotCompliantRFC, "msg-t1": TooManyConn,
	"con-t1": TooManyConn, "con-t2": TooManyConn, "con-t3": TooManyConn, "con-t4": TooManyConn,
	"dns-p1": Rejected, "dns-p2": Rejected, "dns-t1": Rejected, "dns-p3": RequirePTR, "dns-t2": RequirePTR,
	"rcp-p1": UserUnknown, "int-p1": UserUnknown, "int-p3": UserUnknown, "int-p4": UserUnknown,
	"rcp-p2": Filtered, "rcp-p3": Filtered, "rcp-t1": SystemErr, "rcp-t4": Suspend,
}
