-- Health of all kinds in the group idv.mandate.io. docs/status.md shows the health for each status.
-- Argo CD itself reports Progressing for an object that is being deleted.
local function condition(type)
  for _, c in ipairs((obj.status or {}).conditions or {}) do
    if c.type == type then return c end
  end
end

local function is(health, c)
  return {status = health, message = c and c.message or ""}
end

if obj.spec and obj.spec.suspend then
  return {status = "Suspended", message = "spec.suspend is true"}
end
-- A status that is older than the spec describes another spec.
if not obj.status or obj.status.observedGeneration ~= obj.metadata.generation then
  return {status = "Progressing", message = "The operator has not reconciled it yet"}
end

local stalled, failed = condition("Stalled"), condition("Failed")
if stalled and stalled.status == "True" then return is("Degraded", stalled) end
if failed and failed.status == "True" then return is("Degraded", failed) end

local ready, complete, completed = condition("Ready"), condition("Complete"), condition("Completed")
if ready and ready.status == "True" then
  -- DecisionRefused, ReviewRefused and ReviewOutdated need a person, although Ready stays True.
  if completed and completed.status == "False" and completed.reason ~= "InProgress" then return is("Degraded", completed) end
  -- Waiting for people is Healthy. A rejection is Healthy too, because it is an outcome. To wait for an outcome, use Completed.
  return is("Healthy", completed or ready)
end
if complete and complete.status == "True" then return is("Healthy", complete) end
return is("Progressing", condition("Reconciling") or ready)
