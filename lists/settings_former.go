package lists

// formerly are settings that earlier versions had under another name; each gives today's
// name and value. What stands in a list's log is for ever, so a row never goes.
var formerly = map[string]func(value string) (name, now string){
	"verp": func(value string) (string, string) {
		if value == "never" {
			return "verp_delivery_interval", "0"
		}
		return "verp_delivery_interval", "1"
	},
}

// Migrate gives a setting that an earlier version wrote its present name and value. Others
// come back as they are.
func Migrate(name, value string) (string, string) {
	if now := formerly[name]; now != nil {
		return now(value)
	}
	return name, value
}
