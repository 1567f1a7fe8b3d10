// Redis runs a script atomically. A turn is a hash: jti, action, digest the request that used the
// token fence number of the newest lease; earlier leases cannot finish the turn again set if an
// earlier lease ended without a result, so effects of the turn are unknown lease end of the lease
// by the Redis clock, in milliseconds call ID of the call with the lease until time until which the
// response is stored done replaces the last three fields once the response is stored, in a separate
// key The sealed request has its own key until the turn is finished, because a hash that was large
// once stays large. Numbers are formatted with %.0f, since Lua rounds to 14 digits. A full Redis
// checks only the first write of a script. `begin` and `claim` write first, so a full Redis rejects
// them before any change. `finish` and `letGo` delete first, so an interrupted turn can always end.

/** The Redis clock, by which all processes agree on leases. */
export const clock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number) return string.format('%.0f', number) end
local ahead = 'MCPSAGA The entry would expire at once: the Redis clock is ahead. Synchronize the clocks.'
`;

/**
 * KEYS: turn, response, request, next turn. ARGV: jti, action, digest, follows, lease in
 * milliseconds, expiry of the turn, expiry of the response, call ID, sealed request or '', ends,
 * time of the host or '', awaits.
 */
export const begin: string = `${clock}
-- Tokens allow the same difference between clocks.
if ARGV[11] ~= '' and math.abs(now - ARGV[11]) > 30000 then
  return redis.error_reply('MCPSAGA The clocks of Redis and of this host differ by more than 30 s. Synchronize the clocks.')
end
local used = redis.call('HMGET', KEYS[1], 'jti', 'action', 'digest', 'fence', 'lease', 'call', 'done', 'until', 'again')
-- Greater than all earlier fences, including expired ones.
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
-- The interrupted request must finish before the saga is undone or continues.
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
-- A repeated call: the connection dropped its reply.
if isCall and awaits then return {'run', used[4], begun, '1'} end
if isCall then return {'run', used[4], used[9] and begun or nil} end
fence = math.max(fence, used[4] + 1)
redis.call('HSET', KEYS[1], 'fence', text(fence), 'lease', text(now + ARGV[5]), 'call', ARGV[8],
  'until', text(math.max(used[8], ARGV[7])))
-- An awaited request runs to its end, so its effects are known.
if awaits then return {'run', text(fence), begun, '1'} end
redis.call('HSET', KEYS[1], 'again', '1')
return {'run', text(fence), begun or nil}
`;

/** KEYS: turn, response, request. ARGV: fence, response. */
export const finish = `
local held = redis.call('HMGET', KEYS[1], 'fence', 'done', 'until')
if held[1] ~= ARGV[1] then return 0 end
-- A repeated call: two responses never seal to the same bytes.
if held[2] then return redis.call('GET', KEYS[2]) == ARGV[2] and 1 or 0 end
redis.call('HDEL', KEYS[1], 'again', 'lease', 'call', 'until')
redis.call('DEL', KEYS[3])
redis.call('HSET', KEYS[1], 'done', '1')
redis.call('SET', KEYS[2], ARGV[2])
redis.call('PEXPIREAT', KEYS[2], held[3])
return 1
`;

/** KEYS: turn, request. ARGV: fence, '1' if nothing has run. */
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

/** KEYS: claim. ARGV: expiry, call ID. */
export const claim: string = `${clock}
local by = redis.call('GET', KEYS[1])
if by then return by == ARGV[2] and 1 or 0 end
if tonumber(ARGV[1]) <= now then return redis.error_reply(ahead) end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('PEXPIREAT', KEYS[1], ARGV[1])
return 1
`;

/**
 * KEYS: stored bytes of a principal, as `<slot>:<bytes>` for each 15 minutes of expiry. ARGV: bytes
 * to add, expiry, limit. Returns 0 and adds nothing if the limit was reached before.
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
-- A full Redis allows a write after a delete, so the end of a turn is always counted.
redis.call('DEL', KEYS[1])
if #parts > 0 then
  redis.call('SET', KEYS[1], table.concat(parts, ' '))
  redis.call('PEXPIREAT', KEYS[1], text(last * slot))
end
return 1
`;
