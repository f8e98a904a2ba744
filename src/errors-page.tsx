import { Page } from './platform/html.tsx';
import { isRetryable, type RefusalTable } from './platform/problem.ts';

/** The table that the `type` of every problem document points into. */
export function ErrorsPage({ refusals }: { refusals: RefusalTable }) {
  return (
    <Page language="en" title="Tollgate: errors">
      <h1>Errors</h1>
      <p class="soft">
        Errors are problem documents (RFC 9457). <code>code</code> is stable and safe to branch on; quote{' '}
        <code>requestId</code> when you ask for help.
      </p>
      <dl class="card rows">
        {Object.entries(refusals).map(([code, [status, title]]) => (
          <div key={code} id={code}>
            <dt>
              <code>{code}</code>
            </dt>
            <dd>
              {title}{' '}
              <span class="soft">
                HTTP {status}.{' '}
                {isRetryable({ code, status })
                  ? 'The same request may be sent again.'
                  : 'Sending the same request again does not help.'}
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </Page>
  );
}
