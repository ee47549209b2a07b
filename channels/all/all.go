// Package all is the one list of the vendors that this build speaks to.
//
// It promises to be the only importer of the vendors, so that nothing else links their SDKs. It
// must never hold more than the list.
package all

import (
	"tidings/channels"
	"tidings/channels/email/smtp"
	"tidings/channels/push/apns"
	"tidings/channels/push/fcm"
	"tidings/channels/sms/awssms"
	"tidings/channels/sms/twilio"
)

// Vendors is every vendor; the configuration names them by Type.
func Vendors() []channels.Vendor {
	return []channels.Vendor{
		apns.Vendor(),
		fcm.Vendor(),
		twilio.Vendor(),
		awssms.Vendor(),
		smtp.Vendor(),
	}
}
