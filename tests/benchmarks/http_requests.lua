-- wrk's script: sends the requests of a file in order, from a given line on, and prints the outcome as JSON.
-- Each line of the file has a path, a key and an Accept-Encoding, separated by tabs; the last two may be empty.
-- https://github.com/wg/wrk/blob/master/SCRIPTING

local requests = {}
local place = 0

function init(args)
   for line in io.lines(args[1]) do
      local path, key, encoding = line:match("([^\t]*)\t([^\t]*)\t([^\t]*)")
      local headers = {}
      if key ~= "" then headers["Authorization"] = "Bearer " .. key end
      if encoding ~= "" then headers["Accept-Encoding"] = encoding end
      requests[#requests + 1] = wrk.format("GET", path, headers)
   end
   place = tonumber(args[2]) % #requests
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
