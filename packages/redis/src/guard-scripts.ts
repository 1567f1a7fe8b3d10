// Each runs at once: no other command comes between its lines. A turn is a hash:
//   jti, action, digest  which request has used its token
//   fence                the number of its newest lease; that of an earlier one finishes nothing
//   again                there when it was leased before: what that one did, nobody knows
//   lease                until when it is leased, by the clock of Redis, in milliseconds
//   call                 which call has the lease
//   until                until when its response may be asked for
//   done                 in place of the last three: the response is kept, under a key of its own
// What the request brought, sealed, has a key of its own as well until the turn is finished: in the hash it would keep
// that large for good.
// Times and numbers are written with %.0f: Lua would round them to 14 digits.
// A full Redis checks only the first write of a script. `begin` and `claim` therefore write first and delete later, so a
// full Redis refuses both before any change. `finish` and `letGo` delete first: a begun turn can always end.

/** The clock of Redis, the same for all processes: whatever their own clocks say, they agree who has a lease. */
const clock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number) return string.format('%.0f', number) end
local ahead = 'MCPSAGA The clock of Redis is ahead: it would forget at once what it is asked to remember'
`;

/**
 * KEYS: turn, response, request, the next turn. ARGV: jti, action, digest, follows, lease in milliseconds, when to forget the turn, when to
 * forget its response, the call, what the request brings or nothing, whether it ends what was begun, the time of the host or nothing,
 * whether it awaits what was begun.
 */
export const begin: string = `${clock}
-- The grace that a token has for clocks that differ.
if ARGV[11] ~= '' and math.abs(now - ARGV[11]) > 30000 then
  return redis.error_reply('MCPSAGA The clocks of Redis and of this host differ by more than 30 s')
end
local used = redis.call('HMGET', KEYS[1], 'jti', 'action', 'digest', 'fence', 'lease', 'call', 'done', 'until', 'again')
-- Greater than whatever was handed out before, even where that was forgotten.
local fence = time[1] * 1000000 + time[2]
if not used[1] then
  if tonumber(ARGV[6]) <= now then return redis.error_reply(ahead) end
  redis.call('HSET', KEYS[1], 'jti', ARGV[1], 'action', ARGV[2], 'digest', ARGV[3], 'fence', text(fence),
    'lease', text(now + ARGV[5]), 'call', ARGV[8], 'until', ARGV[7])
  redis.call('PEXPIREAT', KEYS[1], ARGV[6])
  if ARGV[9] ~= '' then
    redis.call('SET', KEYS[3], ARGV[9])
    redis.call('PEXPIREAT', KEYS[3], ARGV[6])
  else
    redis.call('DEL', KEYS[3])
  end
  redis.call('DEL', KEYS[2])
  return {'run', text(fence)}
end
local same = used[3] == ARGV[3]
local isRequest = used[2] == ARGV[2] and (same or ARGV[4] == '1')
local ends = ARGV[10] == '1' and used[2] == 'resume'
-- Nobody knows what was begun there: it has to be ended before it is undone, or gone on with.
local awaits = ARGV[12] == '1' and used[2] == ARGV[2] and not isRequest and not used[7]
local begun = (ends or awaits or (isRequest and not same)) and redis.call('GET', KEYS[3])
if used[1] ~= ARGV[1] or not (isRequest or begun or (ends and used[7])) then return {'conflict'} end
if used[7] then
  local response = redis.call('GET', KEYS[2])
  if response then return {'response', response, redis.call('EXISTS', KEYS[4]), isRequest and '0' or '1'} end
  return {'conflict'}
end
local isCall = used[6] == ARGV[8]
if not isCall and now < tonumber(used[5]) then return {'busy'} end
if not (same or begun) then return {'conflict'} end
begun = begun or redis.call('GET', KEYS[3])
-- The same call once more: its answer was lost with the connection.
if isCall and awaits then return {'run', used[4], begun, '1'} end
if isCall then return {'run', used[4], used[9] and begun or nil} end
fence = math.max(fence, used[4] + 1)
redis.call('HSET', KEYS[1], 'fence', text(fence), 'lease', text(now + ARGV[5]), 'call', ARGV[8],
  'until', text(math.max(used[8], ARGV[7])))
-- An awaited request is run to its end: what it did is known then.
if awaits then return {'run', text(fence), begun, '1'} end
redis.call('HSET', KEYS[1], 'again', '1')
return {'run', text(fence), begun or nil}
`;

/** KEYS: turn, response, request. ARGV: fence, response. */
export const finish = `
local held = redis.call('HMGET', KEYS[1], 'fence', 'done', 'until')
if held[1] ~= ARGV[1] then return 0 end
-- The same call once more: no two responses are sealed to the same bytes.
if held[2] then return redis.call('GET', KEYS[2]) == ARGV[2] and 1 or 0 end
redis.call('HDEL', KEYS[1], 'again', 'lease', 'call', 'until')
redis.call('DEL', KEYS[3])
redis.call('HSET', KEYS[1], 'done', '1')
redis.call('SET', KEYS[2], ARGV[2])
redis.call('PEXPIREAT', KEYS[2], held[3])
return 1
`;

/** KEYS: turn, request. ARGV: fence, whether it has run nothing. */
export const letGo = `
local held = redis.call('HMGET', KEYS[1], 'fence', 'done', 'again')
if held[1] ~= ARGV[1] or held[2] then return 0 end
if ARGV[2] == '1' and not held[3] then
  redis.call('DEL', KEYS[1], KEYS[2])
  return 1
end
redis.call('HDEL', KEYS[1], 'call')
redis.call('HSET', KEYS[1], 'lease', '0')
return 1
`;

/** KEYS: claim. ARGV: when to forget it, the call. */
export const claim: string = `${clock}
local by = redis.call('GET', KEYS[1])
if by then return by == ARGV[2] and 1 or 0 end
if tonumber(ARGV[1]) <= now then return redis.error_reply(ahead) end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('PEXPIREAT', KEYS[1], ARGV[1])
return 1
`;

/**
 * KEYS: bytes kept for a principal, as `<slot>:<bytes>` for each quarter of an hour of expiry. ARGV: bytes to add, time of expiry,
 * limit. Returns 0 and adds nothing if the limit was reached before.
 */
export const count: string = `${clock}
local slot = 900000
local expires = math.ceil(ARGV[2] / slot)
local slots = {}
local kept = 0
local last = expires
for at, bytes in string.gmatch(redis.call('GET', KEYS[1]) or '', '(%d+):(%d+)') do
  at = tonumber(at)
  if at * slot > now then
    slots[at] = tonumber(bytes)
    kept = kept + bytes
    last = math.max(last, at)
  end
end
if kept >= tonumber(ARGV[3]) then return 0 end
slots[expires] = math.max(0, (slots[expires] or 0) + ARGV[1])
local parts = {}
for at, bytes in pairs(slots) do
  if bytes > 0 then table.insert(parts, text(at) .. ':' .. text(bytes)) end
end
-- A full Redis allows the write after a delete: the end of a turn is always counted.
redis.call('DEL', KEYS[1])
if #parts > 0 then
  redis.call('SET', KEYS[1], table.concat(parts, ' '))
  redis.call('PEXPIREAT', KEYS[1], text(last * slot))
end
return 1
`;
