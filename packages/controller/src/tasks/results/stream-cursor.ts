/** How far a client has followed a run. All of it is in the store, so it holds across restarts of the controller. */
export interface StreamCursor {
  readonly runId: number;
  /** Second since the common start. */
  readonly second: number;
  /** Sequence number of the last event. */
  readonly event: number;
  /** Id of the last log line. */
  readonly log: number;
}

/** As the id of an event: `<run>-<second>-<event>-<log>`. */
export const cursorText = ({ runId, second, event, log }: StreamCursor) => [runId, second, event, log].join('-');

/** Undefined for what is no id of ours. */
export const parseCursor = (text: string): StreamCursor | undefined => {
  if (!/^\d{1,15}(-\d{1,15}){3}$/.test(text)) return undefined;
  const [runId = 0, second = 0, event = 0, log = 0] = text.split('-').map(Number);
  return { runId, second, event, log };
};
