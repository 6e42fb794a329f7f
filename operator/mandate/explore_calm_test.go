package mandate

func (x *explorer) calm(s state) (state, string) { return s, "" }
