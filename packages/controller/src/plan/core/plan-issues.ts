import type { ValidationIssue } from '@rushhour/contract';

type Severity = ValidationIssue['severity'];

/** Where in the task something is wrong, and on which agent. */
export interface IssueLocation {
  readonly path: string;
  readonly agentId?: number | undefined;
}

const maxIssues = 1000;

/** Collects the issues of a plan, each once. */
export class PlanIssues {
  readonly #issues = new Map<string, ValidationIssue>();
  readonly #notes = new Set<string>();

  get issues(): ValidationIssue[] {
    return [...this.#issues.values()];
  }

  get notes(): string[] {
    return [...this.#notes];
  }

  get hasErrors(): boolean {
    return this.issues.some(({ severity }) => severity === 'error');
  }

  error(location: string | IssueLocation, code: string, message: string): undefined {
    this.#add('error', location, { code, message });
  }

  warning(location: string | IssueLocation, code: string, message: string): undefined {
    this.#add('warning', location, { code, message });
  }

  info(location: string | IssueLocation, code: string, message: string): undefined {
    this.#add('info', location, { code, message });
  }

  /** A warning that is also a note of the result. */
  caveat(location: string | IssueLocation, code: string, message: string): undefined {
    this.warning(location, code, message);
    this.#notes.add(message);
  }

  // The same fault in a thousand sources would make the response unreadable.
  #add(severity: Severity, location: string | IssueLocation, issue: { code: string; message: string }): void {
    const { path, agentId }: IssueLocation = typeof location === 'string' ? { path: location } : location;
    const key = `${path} ${issue.code} ${issue.message}`;
    if (this.#issues.has(key) || this.#issues.size > maxIssues) return;
    if (this.#issues.size === maxIssues) {
      const message = `more than ${maxIssues} problems; the rest is not listed`;
      this.#issues.set(key, { severity: 'error', code: 'TOO_MANY_ISSUES', path: '', message });
    } else this.#issues.set(key, { severity, ...issue, path, ...(agentId !== undefined && { agentId }) });
  }
}
