interface StoredEvent {
  readonly streamId: string;
  readonly message: unknown;
}

/**
 * Events of the streams of one server, as both versions of the SDK store them: what a client missed
 * is sent again.
 */
export interface EventStore {
  storeEvent(streamId: string, message: unknown): Promise<string>;
  getStreamIdForEventId(eventId: string): Promise<string | undefined>;
  replayEventsAfter(
    eventId: string,
    to: { send: (eventId: string, message: never) => Promise<void> },
  ): Promise<string>;
}

/** Makes a store in memory. */
export function memoryEvents(): EventStore {
  const events: StoredEvent[] = [];
  const streamOf = (eventId: string): string | undefined => events[Number(eventId)]?.streamId;
  return {
    storeEvent: async (streamId, message) => String(events.push({ streamId, message }) - 1),
    getStreamIdForEventId: async (eventId) => streamOf(eventId),
    replayEventsAfter: async (eventId, { send }) => {
      const streamId = streamOf(eventId) ?? '';
      const missed = [...events.entries()].filter(
        ([index, event]) => index > Number(eventId) && event.streamId === streamId,
      );
      // The event that opens a stream carries no message.
      for (const [index, { message }] of missed) {
        if (Object.keys(Object(message) as object).length > 0)
          await send(String(index), message as never);
      }
      return streamId;
    },
  };
}
