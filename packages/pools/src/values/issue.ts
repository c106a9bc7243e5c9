export interface Issue {
  /** JSON pointer into the draft that was checked. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
  /** A warning leaves the draft usable. */
  readonly severity: 'error' | 'warning';
}

/** Thrown for an invalid draft; carries all problems. */
export class DraftError extends Error {
  readonly issues: readonly Issue[];

  constructor(issues: readonly Issue[]) {
    const shown = issues.slice(0, 3).map((issue) => `${issue.path || '/'}: ${issue.message}`);
    super(shown.join('; ') + (issues.length > 3 ? ` (and ${issues.length - 3} more)` : ''));
    this.name = 'DraftError';
    this.issues = issues;
  }
}

const issueLimit = 1000;

/** Collects problems while a draft is read, so that one pass both compiles and validates it. */
export class IssueList {
  readonly issues: Issue[] = [];
  readonly #reported = new Set<string>();

  error(path: string, code: string, message: string): undefined {
    this.#add({ path, code, message, severity: 'error' });
  }

  warning(path: string, code: string, message: string): undefined {
    this.#add({ path, code, message, severity: 'warning' });
  }

  get hasErrors(): boolean {
    return this.issues.some((issue) => issue.severity === 'error');
  }

  throwIfErrors(): void {
    if (this.hasErrors) throw new DraftError(this.issues.filter((issue) => issue.severity === 'error'));
  }

  // Reports each problem once and limits their number: 100,000 ragged rows would fill the answer.
  #add(issue: Issue): void {
    const text = `${issue.path} ${issue.message}`;
    if (this.#reported.has(text)) return;
    this.#reported.add(text);
    if (this.issues.length < issueLimit) this.issues.push(issue);
    else if (this.issues.length === issueLimit) {
      const message = `more than ${issueLimit} problems; the rest is not listed`;
      this.issues.push({ path: '', code: 'TOO_MANY_ISSUES', message, severity: 'error' });
    }
  }
}

export function pointerOf(...parts: readonly (string | number)[]): string {
  return parts.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
