import { useEffect, useRef, useState } from 'react';
import { client } from './client.ts';

export interface TaskEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

const firstDelayMs = 500;
const longestDelayMs = 8000;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Listens to a task until it ends. A broken connection is made again and goes on where it broke. */
export const useTaskStream = (taskId: number, isWanted: boolean, onEvent: (event: TaskEvent) => void) => {
  const [isLive, setLive] = useState(false);
  const listener = useRef(onEvent);
  listener.current = onEvent;
  useEffect(() => {
    if (!isWanted) return;
    const controller = new AbortController();
    void listen({ taskId, signal: controller.signal, setLive, onEvent: (event) => listener.current(event) });
    return () => controller.abort();
  }, [taskId, isWanted]);
  return isLive;
};

interface Listening {
  taskId: number;
  signal: AbortSignal;
  setLive: (isLive: boolean) => void;
  onEvent: (event: TaskEvent) => void;
}

const listen = async ({ taskId, signal, setLive, onEvent }: Listening) => {
  let lastId: string | undefined;
  let delayMs = firstDelayMs;
  while (!signal.aborted) {
    try {
      const headers = lastId === undefined ? {} : { 'last-event-id': lastId };
      const events = await client.tasks.stream({ params: { id: taskId } }, { headers, signal });
      setLive(true);
      delayMs = firstDelayMs;
      for await (const event of events) {
        lastId = event.id ?? lastId;
        onEvent(event as TaskEvent);
        if (event.event === 'end') return setLive(false);
      }
    } catch {
      // Below.
    }
    if (signal.aborted) return;
    setLive(false);
    await sleep(delayMs);
    delayMs = Math.min(delayMs * 2, longestDelayMs);
  }
};
