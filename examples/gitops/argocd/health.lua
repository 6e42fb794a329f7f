-- Health of all kinds in the group idv.mandate.io. docs/status.md shows the health for each status.
-- Argo CD itself reports Progressing for an object that is being deleted.
local function condition(type)
  for _, c in ipairs((obj.status or {}).conditions or {}) do
    if c.type == type then return c end
  end
end

local function isTrue(c)
  return c and c.status == "True"
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

-- AccountChanged and ApplicationsMissing need a person, although Ready of the service stays True.
for _, type in ipairs({"Stalled", "Failed", "AccountChanged", "ApplicationsMissing"}) do
  if isTrue(condition(type)) then return is("Degraded", condition(type)) end
end
-- So does a state of applications whose name nobody has explained.
if condition("StatesUnderstood") then return is("Degraded", condition("StatesUnderstood")) end

local ready, complete, completed = condition("Ready"), condition("Complete"), condition("Completed")
if isTrue(ready) then
  -- Waiting for people is Healthy. A rejection is Healthy too, because it is an outcome. To wait for an outcome, use
  -- Completed.
  return is("Healthy", completed or ready)
end
if isTrue(complete) then return is("Healthy", complete) end

local reconciling = condition("Reconciling")
if reconciling then
  -- An action waits for people, or for a Mandate that is suspended.
  if reconciling.reason == "ReportNotReady" then return is("Healthy", reconciling) end
  -- What is above a budget is created later; a suspended service creates nothing.
  if reconciling.reason == "CreationBudgetReached" then return is("Healthy", reconciling) end
  if reconciling.reason == "CreationSuspended" then return is("Suspended", reconciling) end
  if reconciling.reason == "Suspended" then return is("Suspended", reconciling) end
end
return is("Progressing", reconciling or ready)
