import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@rushhour/client';
import type { Browser, Page } from 'playwright-core';
import { administrator, launchBrowser, openPage, signIn, visit } from '../tests/browser/browser.ts';
import { startSystem, untilStatus } from '../tests/system/system.ts';
import { ensureWeb } from './build-web.ts';
import { fillWithDemoData } from './demo-data.ts';
import { root } from './run.ts';

// `npm run screenshots`: the main pages with demonstration data and real traffic, light, dark and on a phone.
// Names as arguments select pages: `npm run screenshots -- overview run-live`.

const folder = join(root, 'docs/screenshots');
const looks = {
  light: { viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  dark: { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
} as const;
const firewall = { name: 'edge-fw', vendor: 'Example', model: 'E-4000', version: '9.1' };
const waf = { name: 'edge-waf', vendor: 'Example', model: 'W-200', version: '3.1' };
const finished = [7, 8, 9];
const wanted = process.argv.slice(2);

interface Shot {
  readonly name: string;
  readonly path: string;
  /** Resolves when the page is ready for the picture. */
  readonly ready: (page: Page) => Promise<unknown>;
}

await ensureWeb();
mkdirSync(folder, { recursive: true });
const system = await startSystem();
try {
  const agents = [await system.addAgent('rack1-client'), await system.addAgent('rack1-server')];
  const data = await fillWithDemoData(system.client);
  const runs = await makeRuns(system.client, data.project, { client: agents[0]?.id ?? 0, server: agents[1]?.id ?? 0 });
  const shots = shotsOf({ ...data, ...runs });
  const browser = await launchBrowser();
  for (const look of Object.keys(looks) as (keyof typeof looks)[]) await take(browser, look, shots);
  await browser.close();
} finally {
  await system.close();
}

type Ends = { client: number; server: number };

/** A passed run, a failed run, an active run, and two schedules. */
async function makeRuns(client: Client, projectID: number, agentMap: Ends) {
  const templates = (await client.taskTemplates.all()).data;
  const make = async (template: string, comment: string, parameters: Record<string, number>, device = firewall) => {
    const templateID = templates.find(({ name }) => name === template)?.id ?? 0;
    const body = { templateID, comment, projectID, agentMap, parameters, device };
    return (await client.tasks.fromTemplate({ body })).data;
  };
  const rate = 'HTTP requests per second';
  const passed = await make(rate, 'Baseline: 400 requests a second', { rps: 400, seconds: 12 });
  const failed = await make(rate, 'Release 4.2: 600 requests a second', { rps: 600, seconds: 8 });
  const live = await make(rate, 'Soak: 300 requests a second', { rps: 300, seconds: 600 });
  const nightly = await make('DNS queries', 'Nightly resolver check', {});
  const limit = (value: number) => ({
    name: 'answers in time',
    metric: 'http.latency',
    aggregation: 'p99' as const,
    operator: '<' as const,
    value,
  });
  await client.tasks.setThresholds({ body: { id: passed, thresholds: [limit(2_000_000)] } });
  await client.tasks.setThresholds({ body: { id: failed, thresholds: [limit(100)] } });
  for (const id of [passed, failed, passed]) {
    await client.tasks.start({ params: { id } });
    await untilStatus(client, id, finished);
  }
  const volume = { perModule: 10, benign: 20, rate: 40 };
  const attacks = await make('WAF: attacks blocked and harmless requests passed', 'WAF acceptance', volume, waf);
  await client.tasks.start({ params: { id: attacks } });
  await untilStatus(client, attacks, finished);
  const { search, journey } = await makeEntries(client, projectID, agentMap);
  await client.tasks.schedule({ body: { id: nightly, cron: '0 2 * * *' } });
  await client.tasks.schedule({ body: { id: passed, cron: '0 2 * * 1-5' } });
  await client.tasks.start({ params: { id: live } });
  await untilStatus(client, live, [4]);
  // Long enough for a meaningful chart.
  await new Promise((resolve) => setTimeout(resolve, 25_000));
  return { passed, failed, live, attacks, search, journey };
}

/** A search that has ended, and a journey that can be tried. */
async function makeEntries(client: Client, projectID: number, { client: from, server: to }: Ends) {
  const make = async (comment: string, port: string, values: object) => {
    const ends = { sources: [{ agent: { id: from } }], targets: [{ agent: { id: to }, ports: port }] };
    const configuration = [{ plugin: { id: 1 }, values: { ...ends, ...values } }];
    const body = { comment, projectID, configuration, device: firewall };
    return (await client.tasks.create({ body: body as never })).data;
  };
  const conditions = [{ metric: 'http.latency', aggregation: 'p95', operator: '<=', value: 250_000 }];
  const goal = { start: 100, max: 6400, resolutionPct: 20, trialSec: 2, settleSec: 0, while: conditions };
  const search = await make('Highest request rate', '18181', { duration: { goal } });
  await client.tasks.start({ params: { id: search } });
  await untilStatus(client, search, finished);
  const login = { method: 'POST', path: '/login', body: { type: 'text', text: '{"name":"{{name}}"}' } };
  const steps = [
    { name: 'sign in', ...login, extract: [{ variable: 'token', from: 'json', expression: '$.token' }] },
    { kind: 'think', thinkMs: 2000 },
    { name: 'cart', path: '/cart/{{token}}', checks: [{ kind: 'json', name: '$.items', value: '3' }] },
  ];
  const journeys = [{ name: 'Shopping', variables: [{ name: 'name', value: 'ada' }], steps }];
  const responses = [{ body: { type: 'text', text: '{"token":"t-81","items":2}' } }];
  const journey = await make('Shop visit', '18182', { requestsPerSecond: 20, httpParams: { journeys, responses } });
  return { search, journey };
}

/** Shows what a journey of the editor does. */
async function tryJourney(page: Page) {
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  await page.getByRole('dialog').getByText('failed check').waitFor();
}

type DemoIds = Awaited<ReturnType<typeof fillWithDemoData>> & Awaited<ReturnType<typeof makeRuns>>;

function shotsOf({ passed, live, attacks, search, journey, application, certificates, networks }: DemoIds): Shot[] {
  const shown = (text: string) => (page: Page) => page.getByText(text).filter({ visible: true }).first().waitFor();
  return [
    { name: 'overview', path: '/', ready: shown('left') },
    { name: 'new-test', path: '/new', ready: shown('HTTP requests per second') },
    { name: 'run-live', path: `/tasks/${live}`, ready: shown('Stop') },
    { name: 'run-result', path: `/tasks/${passed}`, ready: shown('Verdict') },
    { name: 'security', path: `/tasks/${attacks}`, ready: shown('Balanced score') },
    { name: 'search', path: `/tasks/${search}`, ready: shown('Trials: Search') },
    { name: 'editor', path: `/tasks/${passed}/edit`, ready: shown('Ready') },
    { name: 'journey', path: `/tasks/${journey}/edit`, ready: tryJourney },
    { name: 'templates', path: '/resources/taskTemplates', ready: shown('RFC 9411') },
    { name: 'runs', path: `/tasks/${passed}?tab=runs`, ready: shown('Trend of the last runs') },
    { name: 'device', path: '/devices?device=edge-fw', ready: shown('Run 2') },
    { name: 'tasks', path: '/resources/tasks', ready: shown('Baseline') },
    { name: 'group', path: '/resources/groups/2', ready: shown('Permissions') },
    { name: 'network', path: `/resources/networks?edit=${networks[0]}`, ready: shown('10.20.0.2') },
    { name: 'application', path: `/resources/applications/${application}`, ready: shown('HTTP/1.1') },
    { name: 'certificate', path: `/resources/certificates/${certificates.leaf}`, ready: shown('Lab root') },
    { name: 'schedules', path: '/schedules', ready: shown('Nightly') },
  ].filter(({ name }) => wanted.length === 0 || wanted.includes(name));
}

async function take(browser: Browser, look: keyof typeof looks, shots: readonly Shot[]) {
  const { page, problems, context } = await openPage(browser, looks[look]);
  await page.goto(system.url);
  await signIn(page, administrator);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  for (const { name, path, ready } of shots) {
    await visit(page, path);
    await ready(page);
    await page.mouse.move(0, 0);
    await page.waitForTimeout(1500);
    await page.screenshot({ path: join(folder, `${name}-${look}.png`), animations: 'disabled', caret: 'hide' });
    console.log(`${name}-${look}.png`);
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
  await context.close();
}
