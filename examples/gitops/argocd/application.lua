-- Health of Applications, so that the sync waves of an Application of Applications wait for them.
local health = (obj.status or {}).health or {}
return {status = health.status or "Progressing", message = health.message}
