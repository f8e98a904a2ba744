import { Icon } from '../../platform/page-parts.tsx';
import {
  type FormTarget,
  type FrameView,
  HiddenFields,
  LoginLayout,
  readablePhone,
  WithName,
} from './login-layout.tsx';
import { catalogues } from './texts.ts';

export type ConfirmLogoutView = FrameView &
  FormTarget & {
    /** Whose session it is. */
    phone?: string | undefined;
    /** Leads away without signing out. */
    stayHref?: string | undefined;
  };

/** Asked when nothing proves that the request to sign out came from the person. */
export function ConfirmLogoutPage(view: ConfirmLogoutView) {
  const { logout: own } = catalogues[view.language];
  const phone = view.phone && readablePhone(view.phone);
  return (
    <LoginLayout {...view} title={own.title}>
      <div class="sign plain">
        <Icon name="leave" />
      </div>
      <h1>{own.title}</h1>
      <p>{own.text}</p>
      {phone && (
        <p class="soft">
          <WithName text={own.account(phone)} name={phone} />
        </p>
      )}
      <form method="post" action={view.action}>
        <HiddenFields csrf={view.csrf} flow={view.flow} />
        <div class="actions">
          <button class="button" type="submit">
            {own.submit}
          </button>
          {view.stayHref && (
            <a class="button quiet" href={view.stayHref}>
              {own.stay}
            </a>
          )}
        </div>
      </form>
    </LoginLayout>
  );
}

export type SignedOutView = FrameView & {
  back?: { href: string; clientName: string } | undefined;
};

export function SignedOutPage(view: SignedOutView) {
  const { logout: own, actions } = catalogues[view.language];
  return (
    <LoginLayout {...view} title={own.doneTitle}>
      <div class="sign good">
        <Icon name="done" />
      </div>
      <h1>{own.doneTitle}</h1>
      <p>{own.doneText}</p>
      {view.back && (
        <div class="actions">
          <a class="button quiet" href={view.back.href}>
            {actions.backTo(view.back.clientName)}
          </a>
        </div>
      )}
    </LoginLayout>
  );
}
