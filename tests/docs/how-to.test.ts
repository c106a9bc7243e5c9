import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commandLine } from '../cli/command-line.ts';
import { addresses, createLab, type Lab, untilListening } from '../security/lab.ts';
import { commandsOf, documents } from './documents.ts';
import { installProgram, runPage } from './page-commands.ts';

const names = {
  ...{ client: 'edge-1', server: 'edge-2', device: 'gateway' },
  ...{ clientInterface: 'eth1', serverInterface: 'eth1', deviceInterfaces: ['eth1', 'eth2'] as const },
};
let lab: Lab;
let cli: ReturnType<typeof commandLine>;

/** The device of all pages: a filter that drops a port, a balancer and a router that speaks BGP. */
const startDevice = async () => {
  lab.inDevice('nft', 'add', 'table', 'ip', 'rules');
  lab.inDevice('nft', 'add', 'chain', 'ip', 'rules', 'forward', '{ type filter hook forward priority 0; }');
  lab.inDevice('nft', 'add', 'rule', 'ip', 'rules', 'forward', 'tcp', 'dport', '9999', 'drop');
  const balancer = `defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
listen web
  bind ${addresses.device}:8080
  server first ${addresses.server}:8080
`;
  lab.startInDevice('haproxy', '-db', '-f', lab.file('haproxy.cfg', balancer));
  const router = `router id ${addresses.device};
protocol device {}
protocol bgp edge { local as 65001; neighbor 10.97.1.10 as 65000; passive; ipv4 { import all; export none; }; }
`;
  const [control, pid] = ['bird.ctl', 'bird.pid'].map((name) => join(lab.folder, name));
  lab.startInDevice('bird', '-f', '-c', lab.file('bird.conf', router), '-s', control ?? '', '-P', pid ?? '');
  await untilListening(lab, 8080);
  await untilListening(lab, 179);
};

beforeAll(async () => {
  lab = await createLab(names);
  await startDevice();
  cli = commandLine({ RUSHHOUR_URL: lab.system.url });
  const env = { RUSHHOUR_PASSWORD: 'quiet-Harbour-27-lamps' };
  expect((await cli.call(['login', '--email', 'admin@example.test'], { env })).code).toBe(0);
  installProgram(cli);
});
afterAll(async () => {
  cli?.remove();
  await lab?.close();
});

/** Commands of the page of two machines that install, and are tested with agents and controllers. */
const isElsewhere = /^(RUSHHOUR_HOST=|curl )/;

const pages = documents.filter(({ path }) => path.startsWith('docs/how-to/') && !path.endsWith('postgresql-s3.md'));

it.for(pages.map((page) => [page.path, page] as const))('the commands of %s do what it says', async ([, page]) => {
  expect(commandsOf(page).length).toBeGreaterThan(0);
  const { code, output } = await runPage(cli, page, isElsewhere);
  expect([code, output.slice(-3000)]).toEqual([0, expect.any(String)]);
});
