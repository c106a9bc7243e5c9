import type { CveDraft } from '@rushhour/contract';

type Starter = Pick<CveDraft, 'name' | 'description' | 'category' | 'severity' | 'tags' | 'requests'> &
  Partial<Pick<CveDraft, 'cweIDs' | 'techniques' | 'expect' | 'responses'>> & { readonly ref: string };

const get = (path: string, headers: { name: string; value: string }[] = []): CveDraft['requests'] => [
  { idx: 0, kind: 'http', method: 'GET', path, headers },
];

const probe = (ref: string, name: string, path: string, more: Partial<Starter> = {}): Starter => ({
  ref,
  name,
  description: 'A well-known request that security devices are expected to detect. It has no effect on the server.',
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
  probe('dot-git', 'Exposed .git directory', '/.git/HEAD', { category: 'info-leak', cweIDs: ['CWE-538'] }),
  probe('dot-env', 'Exposed .env file', '/.env', { category: 'info-leak', cweIDs: ['CWE-538'] }),
  probe('backup', 'Exposed backup archive', '/backup.zip', { category: 'info-leak', cweIDs: ['CWE-530'] }),
  probe('server-status', 'Exposed server status page', '/server-status', {
    category: 'info-leak',
    cweIDs: ['CWE-200'],
  }),
  probe('admin-page', 'Exposed administration page', '/wp-admin/install.php', { cweIDs: ['CWE-425'] }),
  probe('traversal', 'Path traversal', '/files/../../../../etc/hostname', {
    category: 'path-traversal',
    severity: 'medium',
    cweIDs: ['CWE-22'],
    techniques: ['T1190'],
  }),
  probe('traversal-encoded', 'Path traversal, URL-encoded', '/files/%2e%2e/%2e%2e/etc/hostname', {
    category: 'path-traversal',
    severity: 'medium',
    cweIDs: ['CWE-22'],
    techniques: ['T1190'],
  }),
  probe('scanner-agent', 'Vulnerability scanner user agent', '/', {
    requests: get('/', [{ name: 'User-Agent', value: 'Nikto/2.5.0 (test)' }]),
  }),
  probe('quote', 'SQL injection probe (single quote)', '/item?id=1%27', {
    category: 'sqli',
    severity: 'medium',
    cweIDs: ['CWE-89'],
    techniques: ['T1190'],
  }),
  probe('markup', 'Reflected XSS probe', '/search?q=%3Cb%3Etest%3C%2Fb%3E', {
    category: 'xss',
    cweIDs: ['CWE-79'],
    techniques: ['T1190'],
  }),
  probe('leaky-answer', 'Database error in the response', '/report?id=7', {
    category: 'info-leak',
    severity: 'medium',
    cweIDs: ['CWE-209'],
    responses: [{ idx: 0, mode: 'canned', status: 500, body: 'You have an error in your SQL syntax near line 1' }],
  }),
  probe('harmless-news', 'Benign page request', '/news?page=2', {
    category: 'other',
    severity: 'info',
    tags: 'starter,benign',
    expect: { action: 'allow' },
    techniques: [],
  }),
  probe('harmless-search', 'Benign search', '/search?q=blue+shoes', {
    category: 'other',
    severity: 'info',
    tags: 'starter,benign',
    expect: { action: 'allow' },
    techniques: [],
  }),
];
