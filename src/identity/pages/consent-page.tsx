import { BrandMark, Icon } from '../../platform/page-parts.tsx';
import {
  type FormTarget,
  type FrameView,
  HiddenFields,
  LoginLayout,
  readablePhone,
  WithName,
} from './login-layout.tsx';
import { catalogues, type Texts } from './texts.ts';

export type ConsentView = FrameView &
  FormTarget & {
    clientName: string;
    /** The number of the account whose data is asked for. */
    phone: string;
    /** In the order in which they are shown; identity documents always come last. */
    scopes: ConsentScope[];
    /** How long a session lives at most, and with it the access. */
    sessionHours: number;
  };

export type ConsentScope = 'openid' | 'profile' | 'phone' | 'identity_documents';

const scopeIcons = { openid: 'key', profile: 'person', phone: 'phone' } as const;

/** Who asks for what, and for how long. The form answers with `decision`: `allow` or `deny`. */
export function ConsentPage(view: ConsentView) {
  const { consent: own } = catalogues[view.language];
  const ordinary = view.scopes.filter((scope) => scope !== 'identity_documents');
  const phone = readablePhone(view.phone);
  return (
    <LoginLayout {...view} title={own.documentTitle(view.clientName)}>
      <Parties clientName={view.clientName} />
      <h1>{own.title}</h1>
      <p class="lead">
        <WithName text={own.lead(view.clientName)} name={view.clientName} />
      </p>
      {ordinary.length > 0 && (
        <ul class="asked">
          {ordinary.map((scope) => (
            <li key={scope}>
              <Icon name={scopeIcons[scope]} />
              <p class="name">{own.scopes[scope].name}</p>
              <p class="about">{own.scopes[scope].about}</p>
            </li>
          ))}
        </ul>
      )}
      {view.scopes.includes('identity_documents') && <Documents own={own.documents} />}
      <div class="terms">
        <p>
          <WithName text={own.account(phone)} name={phone} />
        </p>
        <p>
          {own.lasting(view.sessionHours)} {own.remembered}
        </p>
        <p>{own.denied(view.clientName)}</p>
      </div>
      <form method="post" action={view.action}>
        <HiddenFields csrf={view.csrf} flow={view.flow} />
        <div class="actions pair">
          <button class="button" type="submit" name="decision" value="allow">
            {own.allow}
          </button>
          <button class="button quiet" type="submit" name="decision" value="deny">
            {own.deny}
          </button>
        </div>
      </form>
    </LoginLayout>
  );
}

function Documents({ own }: { own: Texts['consent']['documents'] }) {
  return (
    <ul class="asked sensitive">
      <li>
        <Icon name="document" />
        <p class="name">
          {own.name} <span class="tag">{own.tag}</span>
        </p>
        <ul>
          {own.list.map((document) => (
            <li key={document}>{document}</li>
          ))}
        </ul>
        <p class="about">{own.about}</p>
      </li>
    </ul>
  );
}

function Parties({ clientName }: { clientName: string }) {
  const [first] = new Intl.Segmenter().segment(clientName.trim());
  return (
    <div class="parties" aria-hidden="true">
      <BrandMark />
      <svg class="dots" viewBox="0 0 28 6" fill="currentColor" aria-hidden="true" focusable="false">
        <circle cx="4" cy="3" r="2" />
        <circle cx="14" cy="3" r="2" />
        <circle cx="24" cy="3" r="2" />
      </svg>
      <span class="initial">{first?.segment.toUpperCase()}</span>
    </div>
  );
}
