import { explainIssues } from '../lib/issues.ts';

/** The issues of a rejected request, one on each line. */
const IssueList = ({ issues }: { issues: readonly { path: string; message: string }[] }) => explainIssues(issues);

export default IssueList;
