import { Page } from './platform/html.tsx';
import { isRetryable, type RefusalTable } from './platform/problem.ts';

/** The table that the `type` of every problem document points into. */
export function ErrorsPage({ refusals }: { refusals: RefusalTable }) {
  return (
    <Page language="en" title="Tollgate: errors">
      <h1>Errors</h1>
      <p class="soft">
        Errors are problem documents (RFC 9457). <code>code</code> is stable and safe to branch on; quote{' '}
        <code>requestId</code> when you ask for help. What is retryable may be sent again as it is. Token,
        introspection and revocation answer in OAuth's form instead: <code>error</code> and{' '}
        <code>error_description</code>.
      </p>
      <dl class="card rows">
        {Object.entries(refusals).map(([code, row]) => (
          <div key={code} id={code}>
            <dt>
              <code>{code}</code>
            </dt>
            <dd>
              <WithCode text={row[1]} />{' '}
              <span class="soft">
                HTTP {row[0]}
                {isRetryable(row) && ', retryable'}.
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </Page>
  );
}

/** What stands between backticks is code, as it is in `docs/errors.md`. */
function WithCode({ text }: { text: string }) {
  return text.split('`').map((part, at) => (at % 2 ? <code key={at}>{part}</code> : part));
}
