import { useEffect, useRef, useState } from 'react';
import { client } from './client.ts';

export interface TaskEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

const firstDelayMs = 500;
const maxDelayMs = 8000;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Follows the event stream of a task until it ends. A lost connection is reopened and continues after the last event. */
export const useTaskStream = (taskId: number, isEnabled: boolean, onEvent: (event: TaskEvent) => void) => {
  const [isLive, setLive] = useState(false);
  const listener = useRef(onEvent);
  listener.current = onEvent;
  useEffect(() => {
    if (!isEnabled) return;
    const controller = new AbortController();
    void listen({ taskId, signal: controller.signal, setLive, onEvent: (event) => listener.current(event) });
    return () => controller.abort();
  }, [taskId, isEnabled]);
  return isLive;
};

interface Subscription {
  taskId: number;
  signal: AbortSignal;
  setLive: (isLive: boolean) => void;
  onEvent: (event: TaskEvent) => void;
}

const listen = async ({ taskId, signal, setLive, onEvent }: Subscription) => {
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
      // Reconnects below.
    }
    if (signal.aborted) return;
    setLive(false);
    await sleep(delayMs);
    delayMs = Math.min(delayMs * 2, maxDelayMs);
  }
};
