import { Icon } from '../../platform/page-parts.tsx';
import { type FormTarget, type FrameView, HiddenFields, LoginLayout } from './login-layout.tsx';
import { catalogues, type MessageKind, type Texts } from './texts.ts';

export type MessageView = FrameView & {
  kind: MessageKind;
  /** Adds when to come back. */
  waitSeconds?: number | undefined;
  next?: NextStep | undefined;
  requestId?: string | undefined;
};

/** The way on: a link, or a form where it changes something. */
export type NextStep = NextLabel & ({ href: string } | { form: FormTarget });
export type NextLabel =
  | { label: 'start_again' | 'another_number' }
  | { label: 'back_to_client'; clientName: string };

/** Why it does not go on here, and where it does. */
export function MessagePage(view: MessageView) {
  const texts = catalogues[view.language];
  const { title, text } = texts.messages[view.kind];
  return (
    <LoginLayout {...view} title={title}>
      <div class="sign bad">
        <Icon name="alert" />
      </div>
      <h1>{title}</h1>
      <p>{text}</p>
      {view.waitSeconds !== undefined && <p>{texts.tryAgainIn(view.waitSeconds)}</p>}
      {view.next && <Next step={view.next} texts={texts} />}
      {view.requestId && (
        <p class="request">
          {texts.requestId}: {view.requestId}
        </p>
      )}
    </LoginLayout>
  );
}

function Next({ step, texts }: { step: NextStep; texts: Texts }) {
  const label = labelOf(step, texts);
  if ('href' in step) {
    return (
      <div class="actions">
        <a class="button" href={step.href}>
          {label}
        </a>
      </div>
    );
  }
  return (
    <form method="post" action={step.form.action}>
      <HiddenFields csrf={step.form.csrf} flow={step.form.flow} />
      <div class="actions">
        <button class="button" type="submit">
          {label}
        </button>
      </div>
    </form>
  );
}

function labelOf(step: NextLabel, { actions }: Texts): string {
  switch (step.label) {
    case 'start_again':
      return actions.startAgain;
    case 'another_number':
      return actions.anotherNumber;
    case 'back_to_client':
      return actions.backTo(step.clientName);
  }
}
