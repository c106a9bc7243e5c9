import { api, type Collection, type Route, runTables } from '@rushhour/contract';
import { createJudge } from './judge.ts';

/** An agent and the run that its messages were about. */
interface Reported {
  readonly agentId: number;
  readonly taskId: number;
  readonly runId: number;
}

const routes = (Object.values(api) as Collection[])
  .flatMap((collection) => Object.values(collection.routes) as Route[])
  .filter(({ method, events, ai }) => method === 'GET' && !events && !ai);

/** What is read beside the plain answer of a route. PDF takes a browser. */
const queries: Readonly<Record<string, readonly string[]>> = {
  '/agents/:id/metrics': ['', '?step=60'],
  '/tasks/:id/runs/:runId': ['', '?full=true'],
  '/tasks/:id/runs/:runId/series': [
    '?metrics=http.requests,http.concurrent&by=agent',
    '?metrics=http.latency&agg=p99',
    '?metrics=http.latency&bands=true',
  ],
  '/tasks/:id/runs/:runId/agents': ['', ...runTables.map((table) => `?table=${table}`)],
  '/tasks/:id/runs/:runId/report': ['html', 'csv', 'json', 'junit'].map((format) => `?format=${format}`),
};
const aboutTasks = /^\/tasks\/:id(\/(status|events|logs|metrics|runs))?$/;

const reads = routes
  .filter(({ path }) => /^\/(agents\/:id|tasks\/:id\/runs\/:runId)(?!.*dumpId)/.test(path) || aboutTasks.test(path))
  .map((route) => ({ route, judge: createJudge(route), queries: queries[route.path] ?? [''] }));

const headersOf = ({ headers }: Response) => new Map(headers.entries());

/** Reads all that an agent has reported, in every form, and returns the violations of the rules for answers. */
export const createReader =
  (url: string, send: (url: string) => Promise<Response>) =>
  async ({ agentId, taskId, runId }: Reported): Promise<string[]> => {
    const findings: string[] = [];
    for (const { route, judge, queries: wanted } of reads) {
      const ids: Readonly<Record<string, number>> = { ':id': route.path.startsWith('/agents') ? agentId : taskId };
      const path = route.path.replace(/:\w+/g, (name) => String(ids[name] ?? runId));
      for (const query of wanted) {
        const response = await send(`${url}/v1${path}${query}`);
        const answer = { status: response.status, headers: headersOf(response), body: await response.text() };
        const problem = judge(answer, { method: 'GET', expectsRefusal: false });
        if (problem !== undefined) findings.push(`${path}${query} ${problem}`);
        else if (response.status >= 400) findings.push(`${path}${query} answered ${response.status}: ${answer.body}`);
      }
    }
    return findings;
  };
