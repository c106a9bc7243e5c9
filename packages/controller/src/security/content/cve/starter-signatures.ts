import type { CveDraft } from '@rushhour/contract';

type Starter = Pick<CveDraft, 'name' | 'description' | 'category' | 'severity' | 'tags' | 'requests'> &
  Partial<Pick<CveDraft, 'cweIDs' | 'techniques' | 'expect' | 'responses'>> & { readonly ref: string };

const get = (path: string, headers: { name: string; value: string }[] = []): CveDraft['requests'] => [
  { idx: 0, kind: 'http', method: 'GET', path, headers },
];

const probe = (ref: string, name: string, path: string, more: Partial<Starter> = {}): Starter => ({
  ref,
  name,
  description:
    'A harmless request of a well-known shape that devices are expected to notice. It does nothing to anybody.',
  category: 'scanner',
  severity: 'low',
  tags: 'starter,probe',
  techniques: ['T1595.003'],
  requests: get(path),
  ...more,
});

/**
 * What a new installation has to begin with: a few requests everybody knows, written for tests. They ask for a path and
 * carry nothing that would do harm if the other side were real.
 */
export const starterSignatures: readonly Starter[] = [
  probe('dot-git', 'Probe of a repository left behind', '/.git/HEAD', { category: 'info-leak', cweIDs: ['CWE-538'] }),
  probe('dot-env', 'Probe of settings left behind', '/.env', { category: 'info-leak', cweIDs: ['CWE-538'] }),
  probe('backup', 'Probe of a backup left behind', '/backup.zip', { category: 'info-leak', cweIDs: ['CWE-530'] }),
  probe('server-status', 'Probe of a status page', '/server-status', { category: 'info-leak', cweIDs: ['CWE-200'] }),
  probe('admin-page', 'Probe of an administration page', '/wp-admin/install.php', { cweIDs: ['CWE-425'] }),
  probe('traversal', 'Path that climbs out of its folder', '/files/../../../../etc/hostname', {
    category: 'path-traversal',
    severity: 'medium',
    cweIDs: ['CWE-22'],
    techniques: ['T1190'],
  }),
  probe('traversal-encoded', 'Path that climbs out of its folder, escaped', '/files/%2e%2e/%2e%2e/etc/hostname', {
    category: 'path-traversal',
    severity: 'medium',
    cweIDs: ['CWE-22'],
    techniques: ['T1190'],
  }),
  probe('scanner-agent', 'Name of a scanner', '/', {
    requests: get('/', [{ name: 'User-Agent', value: 'Nikto/2.5.0 (test)' }]),
  }),
  probe('quote', 'A lone quote in a parameter', '/item?id=1%27', {
    category: 'sqli',
    severity: 'medium',
    cweIDs: ['CWE-89'],
    techniques: ['T1190'],
  }),
  probe('markup', 'Markup in a parameter', '/search?q=%3Cb%3Etest%3C%2Fb%3E', {
    category: 'xss',
    cweIDs: ['CWE-79'],
    techniques: ['T1190'],
  }),
  probe('leaky-answer', 'Answer that looks like an error of a database', '/report?id=7', {
    category: 'info-leak',
    severity: 'medium',
    cweIDs: ['CWE-209'],
    responses: [{ idx: 0, mode: 'canned', status: 500, body: 'You have an error in your SQL syntax near line 1' }],
  }),
  probe('harmless-news', 'Harmless request of a page', '/news?page=2', {
    category: 'other',
    severity: 'info',
    tags: 'starter,benign',
    expect: { action: 'allow' },
    techniques: [],
  }),
  probe('harmless-search', 'Harmless search', '/search?q=blue+shoes', {
    category: 'other',
    severity: 'info',
    tags: 'starter,benign',
    expect: { action: 'allow' },
    techniques: [],
  }),
];
