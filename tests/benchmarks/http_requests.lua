-- wrk's script: asks the paths of a file in turn, and tells the outcome as one line of JSON.
-- https://github.com/wg/wrk/blob/master/SCRIPTING

local requests = {}
local place = 0

function init(args)
   local headers = {}
   if args[2] ~= "" then headers["Authorization"] = "Bearer " .. args[2] end
   for index = 3, #args do
      local name, value = args[index]:match("([^:]+):(.*)")
      headers[name] = value
   end
   for path in io.lines(args[1]) do
      requests[#requests + 1] = wrk.format("GET", path, headers)
   end
end

function request()
   place = place % #requests + 1
   return requests[place]
end

function done(summary, latency)
   local errors = summary.errors
   io.write(string.format(
      '{"calls": %d, "microseconds": %d, "bytes": %d, "refused": %d, "failed": %d, "p50": %d, "p99": %d}\n',
      summary.requests, summary.duration, summary.bytes, errors.status,
      errors.connect + errors.read + errors.write + errors.timeout,
      latency:percentile(50), latency:percentile(99)))
end
