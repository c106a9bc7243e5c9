import type { FastifyReply, FastifyRequest } from 'fastify';
import { tooMany } from '../errors.ts';
import type { Executor } from '../store/engine/database.ts';
import type { RequestCaller } from './request-caller.ts';
import { findSessionById } from './session.ts';

const pingMs = 15_000;

interface ServerEvent {
  id?: string;
  event: string;
  data: unknown;
}

const recheckMs = 2000;

const isSame = (before: ReadonlySet<number>, now: ReadonlySet<number>) =>
  before.size === now.size && [...before].every((value) => now.has(value));

/** Whether the session of a stream still has the rights it had when the stream was opened. */
const isStillAllowed = async (read: Executor, caller: RequestCaller) => {
  const session = await findSessionById(read, caller.sessionId);
  return session !== undefined && !session.isRequiredToSetPassword && isSame(caller.permissions, session.permissions);
};

/**
 * Open event streams: counted for each user, ended together when the controller stops. A stream ends soon after its
 * session does, and when the rights of its user change: the client then opens it anew with the rights it has.
 */
export const createStreams = (read: Executor) => {
  const open = new Map<number, Set<RequestCaller>>();

  const recheck = async () => {
    for (const caller of [...open.values()].flatMap((callers) => [...callers])) {
      if (!(await isStillAllowed(read, caller).catch(() => false))) caller.abort();
    }
  };
  let isChecking = false;
  const timer = setInterval(async () => {
    if (isChecking) return;
    isChecking = true;
    await recheck();
    isChecking = false;
  }, recheckMs).unref();

  const admit = (caller: RequestCaller, limit: number) => {
    const own = open.get(caller.userId) ?? new Set();
    if (own.size >= limit) throw tooMany('TOO_MANY_STREAMS', `more than ${limit} event streams at once`, 5);
    open.set(caller.userId, own.add(caller));
    return () => {
      own.delete(caller);
      if (own.size === 0) open.delete(caller.userId);
    };
  };

  return {
    admit,
    endAll: () => {
      clearInterval(timer);
      for (const callers of open.values()) for (const caller of callers) caller.abort();
    },
  };
};

export type Streams = ReturnType<typeof createStreams>;

/** Writes events as `text/event-stream` until the source ends or the client goes. */
export const sendEvents = async (
  events: AsyncIterable<ServerEvent>,
  caller: RequestCaller,
  request: FastifyRequest,
  reply: FastifyReply,
) => {
  reply.hijack();
  const response = reply.raw;
  request.raw.on('close', () => caller.abort());
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  response.write(': open\n\n');
  const ping = setInterval(() => response.write(': ping\n\n'), pingMs);
  try {
    for await (const { id, event, data } of events) {
      const isRoomLeft = response.write(`${id ? `id: ${id}\n` : ''}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      if (!isRoomLeft) await drained(response, caller.signal);
      if (caller.signal.aborted) break;
    }
  } catch (error) {
    if (!caller.signal.aborted) request.log.error({ err: error }, 'event stream failed');
  } finally {
    clearInterval(ping);
    response.end();
  }
};

const drained = (response: NodeJS.WritableStream, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    response.once('drain', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
