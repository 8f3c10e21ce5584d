package validator

func Validate(value interface{}) error { return nil }
