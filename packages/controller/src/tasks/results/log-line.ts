import type { api } from '@rushhour/contract';
import type { Handlers } from '../../handler.ts';

type LogLine = Awaited<ReturnType<Handlers<typeof api.tasks>['logs']>>['data'][number];

interface StoredLine {
  ts: number;
  level: string;
  agentID: number;
  source: string;
  message: string;
}

export const logLineOf = ({ ts, level, agentID, source, message }: StoredLine): LogLine => ({
  ts: new Date(ts).toISOString(),
  level: level as LogLine['level'],
  agentID,
  source,
  message,
});
