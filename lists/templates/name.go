package templates

// Name is what a template is for, as Mailman 3 calls it.
type Name string

// The templates.
const (
	AdminActionPost        Name = "list:admin:action:post"
	AdminActionSubscribe   Name = "list:admin:action:subscribe"
	AdminActionUnsubscribe Name = "list:admin:action:unsubscribe"

	AdminDisable      Name = "list:admin:notice:disable"
	AdminIncrement    Name = "list:admin:notice:increment"
	AdminPending      Name = "list:admin:notice:pending"
	AdminRemoval      Name = "list:admin:notice:removal"
	AdminSubscribe    Name = "list:admin:notice:subscribe"
	AdminUnrecognized Name = "list:admin:notice:unrecognized"
	AdminUnsubscribe  Name = "list:admin:notice:unsubscribe"

	DigestFooter   Name = "list:member:digest:footer"
	DigestHeader   Name = "list:member:digest:header"
	DigestMasthead Name = "list:member:digest:masthead"
	GenericFooter  Name = "list:member:generic:footer"
	RegularFooter  Name = "list:member:regular:footer"
	RegularHeader  Name = "list:member:regular:header"

	UserInvite      Name = "list:user:action:invite"
	UserSubscribe   Name = "list:user:action:subscribe"
	UserUnsubscribe Name = "list:user:action:unsubscribe"
	UserRequest     Name = "list:user:action:request"

	UserGoodbye     Name = "list:user:notice:goodbye"
	UserHold        Name = "list:user:notice:hold"
	UserNoMoreToday Name = "list:user:notice:no-more-today"
	UserPost        Name = "list:user:notice:post"
	UserProbe       Name = "list:user:notice:probe"
	UserRefuse      Name = "list:user:notice:refuse"
	UserRejected    Name = "list:user:notice:rejected"
	UserWarning     Name = "list:user:notice:warning"
	UserWelcome     Name = "list:user:notice:welcome"

	DomainNewList Name = "domain:admin:notice:new-list"

	// Ours, which Mailman has not.
	AdminComplaint    Name = "list:admin:notice:complaint"
	AdminOwnerBounces Name = "list:admin:notice:owner-bounces"
	AdminRefused      Name = "list:admin:notice:refused"
	AdminStorm        Name = "list:admin:notice:storm"
	AdminUndelivered  Name = "list:admin:notice:undelivered"
	UserComplaint     Name = "list:user:notice:complaint"
	UserEnabled       Name = "list:user:notice:enabled"
	UserTooLate       Name = "list:user:notice:too-late"
	UserUndelivered   Name = "list:user:notice:undelivered"
	SiteTrouble       Name = "site:admin:notice:trouble"
)
