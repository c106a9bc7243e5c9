import type { Client } from '@rushhour/client';

export interface SeenEvent {
  id?: string;
  event: string;
  data: never;
}

type Query = NonNullable<Parameters<Client['tasks']['stream']>[0]['query']>;

interface Options {
  query?: Query;
  lastEventId?: string;
  /** What happens once the stream is open. */
  act?(): Promise<unknown>;
  timeoutMs?: number;
}

/** Opens the stream of a task and collects what comes until it ends or there is enough. */
export const collectEvents = async (
  client: Client,
  taskId: number,
  isEnough: (events: readonly SeenEvent[]) => boolean,
  { query = {}, lastEventId, act = async () => {}, timeoutMs = 10_000 }: Options = {},
): Promise<SeenEvent[]> => {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error('the stream brought too little')), timeoutMs);
  const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const stream = await client.tasks.stream({ params: { id: taskId }, query }, { signal: abort.signal, headers });
  const events: SeenEvent[] = [];
  const reading = (async () => {
    for await (const event of stream) {
      events.push(event as SeenEvent);
      if (isEnough(events)) break;
    }
  })();
  try {
    await act();
    await reading;
  } catch (error) {
    throw new Error(`${(error as Error).message}: ${JSON.stringify(events).slice(0, 2000)}`, { cause: error });
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
  return events;
};
