import { Provider } from '@mcp-saga/testing';

interface Room {
  readonly room: string;
}

/** Rooms that are open, and services that failed over. */
export const rooms: Provider<Room> = new Provider();
export const failovers: Provider<string> = new Provider();
const keys = new Map<string, string>();

/** A fake of the operations system in the repository, which honors idempotency keys. */
export const ops = {
  open: async (service: string, key: string, _signal: AbortSignal): Promise<Room> => {
    const room = `room-${service}`;
    keys.set(room, key);
    return rooms.do(key, { room });
  },
  close: async (room: string, _key: string, _signal: AbortSignal): Promise<void> =>
    rooms.undo(keys.get(room) ?? ''),
  failOver: async (service: string, key: string, _signal: AbortSignal): Promise<string> =>
    failovers.do(key, service),
};
