-- Adds entries of a relay to a stream, each once: one step in Redis (forward.h).
--
-- KEYS: stream, record. ARGV: host, seconds to keep the record, how many entries to remember, then of each entry number, id
-- and messages. Returns a letter for each entry: added, known, or renumbered (added, though its number is not above all
-- others).
--
-- The record is "NUMBER:ID NUMBER:ID …"; a renumbered entry is NUMBER:ID:HIGHEST, so that the last one tells the highest number. It grows
-- by APPEND and is written as a whole only when it holds nearly twice what is to be remembered, or once a day for its expiry.
-- Relays of the first version left "NUMBER": all entries up to it are known.
local host, seconds, remembered = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local record = redis.call('GET', KEYS[2]) or ''
-- Asked before anything is written. A user without this permission, or without APPEND, has the whole record written each time.
local expiry = redis.pcall('TTL', KEYS[2])
local expires_late = type(expiry) == 'number' and expiry > seconds - 86400
local up_to = tonumber(record)
local number, highest = string.match(string.sub(record, -60), '(%d+):%x+:?(%d*)$')
local last = up_to or tonumber(highest) or tonumber(number) or 0
local result, added, ids, failed = {}, {}, {}, nil

for i = 4, #ARGV, 3 do
	local n, id = tonumber(ARGV[i]), ARGV[i + 1]
	if ids[id] or (up_to and n <= up_to) or string.find(record, ':' .. id, 1, true) then
		result[#result + 1] = 'k'
	else
		local reply = redis.pcall('XADD', KEYS[1], '*', 'strobe', ARGV[i + 2], 'id', id, 'host', host)
		-- Those that were added before must not be forgotten.
		if type(reply) == 'table' and reply.err then
			failed = reply
			break
		end
		local is_next = n > last
		added[#added + 1] = ARGV[i] .. ':' .. id .. (is_next and '' or ':' .. last)
		result[#result + 1] = is_next and 'a' or 'r'
		ids[id] = true
		last = math.max(last, n)
	end
end

local function written_whole(text, most)
	if #text > most then
		text = string.sub(text, (string.find(text, ' ', -most, true) or 0) + 1)
	end
	redis.call('SET', KEYS[2], text, 'EX', seconds)
end

local function appended(text)
	local reply = redis.pcall('APPEND', KEYS[2], text)
	return type(reply) == 'number'
end

if #added > 0 then
	local more, most = table.concat(added, ' '), remembered * (#added[#added] + 1)
	if record == '' or up_to then
		written_whole(more, most)
	elseif not expires_late or #record + #more > 1.9 * most or not appended(' ' .. more) then
		written_whole(record .. ' ' .. more, most)
	end
end
return failed or table.concat(result)
