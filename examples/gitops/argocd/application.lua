-- Health of Applications, so that the sync waves of an Application of Applications wait for them. Argo CD reports
-- Healthy for an Application whose CRDs are missing, so the first sync has to be done, too.
local status = obj.status or {}
if not status.history then
  return {status = "Progressing", message = "It has not been synced yet"}
end
local health = status.health or {}
return {status = health.status or "Progressing", message = health.message or ""}
