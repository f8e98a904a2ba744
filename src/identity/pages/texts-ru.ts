import { productName } from '../../platform/languages.ts';
import type { Texts } from './texts.ts';
import { inWords } from './time-in-words.ts';

export const ru: Texts = {
  languageChoice: 'Выбор языка',
  tagline: 'Один номер для входа во все ваши сервисы',
  failed: (title) => `Ошибка: ${title}`,
  requestId: 'Номер обращения',
  phone: {
    title: 'Вход',
    documentTitle: (client) => `Вход в сервис «${client}»`,
    lead: (client) => `Вы входите в сервис «${client}».`,
    label: 'Номер телефона',
    example: 'Например, +994 50 123 45 67.',
    smsNotice: 'Мы отправим на этот номер SMS с 6-значным кодом.',
    submit: 'Получить код по SMS',
    cancel: 'Отменить и вернуться',
    missing: { title: 'Номер не указан', text: 'Введите номер телефона.' },
    malformed: {
      title: 'Проверьте номер',
      text: 'Это не похоже на номер телефона. Укажите его с кодом страны.',
    },
    countryNotServed: {
      title: 'Номера этой страны не принимаются',
      text: 'Введите другой номер.',
    },
  },
  sending: {
    tooManyCodes: (waitSeconds) => ({
      title: 'Код запрашивали слишком часто',
      text: `Новый код можно будет запросить через ${ruDuration(waitSeconds)}.`,
    }),
    unavailable: {
      title: 'Сейчас не получается отправить SMS',
      text: 'Пожалуйста, попробуйте ещё раз через несколько минут.',
    },
  },
  code: {
    title: 'Введите код',
    sentTo: (phone) => `Мы отправили SMS с 6-значным кодом на номер ${phone}.`,
    validFor: (minutes) => `Код действует ${ruCount(minutes, ruUnits.minute)}.`,
    label: 'Код из SMS',
    sixDigits: '6 цифр',
    automatic: 'Продолжим автоматически, как только вы введёте все 6 цифр.',
    submit: 'Войти',
    keepSecret: 'Никому не сообщайте этот код. Наши сотрудники никогда его не спрашивают.',
    notArrived: 'Код не пришёл?',
    resendIn: (seconds) => `Новый код можно будет запросить через ${ruDuration(seconds)}.`,
    resendCountdown: 'Новый код можно будет запросить через {time}',
    resendReady: 'Теперь можно запросить новый код.',
    resend: 'Отправить новый код',
    anotherNumber: 'Войти с другим номером',
    malformed: {
      title: 'Код введён не полностью',
      text: 'Введите все 6 цифр из SMS.',
    },
    wrong: (attemptsLeft) => ({
      title: 'Неверный код',
      text:
        attemptsLeft > 0
          ? `Проверьте SMS и попробуйте ещё раз. ${ruAttempts(attemptsLeft)}.`
          : 'Попыток больше не осталось. Запросите новый код ниже.',
    }),
    expired: {
      title: 'Код больше не действует',
      text: 'Запросите новый код ниже.',
    },
    tooManyAttempts: (waitSeconds) => ({
      title: 'Слишком много попыток',
      text: `Для вашей безопасности нужно подождать. Попробуйте ещё раз через ${ruDuration(waitSeconds)}.`,
    }),
    alreadyOnItsWay: 'Код уже отправлен. Доставка может занять до минуты.',
    sentAgain: 'Мы отправили новый код. Прежний код больше не действует.',
  },
  consent: {
    title: 'Поделиться данными?',
    documentTitle: (client) => `Согласие для «${client}»`,
    lead: (client) => `Сервис «${client}» запрашивает эти данные:`,
    account: (phone) => `Аккаунт: ${phone}`,
    scopes: {
      openid: {
        name: 'Идентификатор вашего аккаунта',
        about: 'Чтобы сервис узнал вас в следующий раз.',
      },
      profile: {
        name: 'Ваш профиль',
        about:
          'Имя, фамилия, отчество, дата рождения, пол, резидентство, фото профиля и статус подтверждения.',
      },
      phone: { name: 'Ваш номер телефона', about: 'Номер, с которым вы входите.' },
    },
    documents: {
      name: 'Документы, удостоверяющие личность',
      tag: 'Особо важные данные',
      list: ['Персональный идентификационный номер (FİN)', 'Номер удостоверения личности'],
      about: 'Разрешайте, только если доверяете этому сервису.',
    },
    lasting: (hours) =>
      `Сервис сможет читать эти данные, только пока вы в аккаунте, не дольше ${ruCount(hours, ruUnits.hourGenitive)}.`,
    remembered: 'Мы запомним ваш выбор и спросим снова, только если понадобятся другие данные.',
    denied: (client) => `Если вы откажете, данные не будут переданы, и вы вернётесь в «${client}».`,
    allow: 'Разрешить',
    deny: 'Отказать',
  },
  messages: {
    unknown_client: {
      title: 'Этот сервис нам неизвестен',
      text: 'Сервис, который направил вас сюда, у нас не зарегистрирован. Обратитесь в его службу поддержки.',
    },
    bad_redirect: {
      title: 'Вход остановлен',
      text: 'Адрес возврата, указанный сервисом, у нас не зарегистрирован. Чтобы защитить ваши данные, мы не перенаправляем вас туда.',
    },
    bad_request: {
      title: 'Ссылка не работает',
      text: 'Запрос неполный или повреждён. Вернитесь в сервис, которым вы пользовались, и попробуйте ещё раз.',
    },
    page_expired: {
      title: 'Время страницы истекло',
      text: 'Она была открыта слишком долго. Пожалуйста, начните вход заново.',
    },
    other_browser: {
      title: 'Вход начат в другом браузере',
      text: 'Продолжите в том браузере, где начали, или начните заново здесь.',
    },
    account_inactive: {
      title: 'Аккаунт неактивен',
      text: 'Сейчас войти с этим аккаунтом нельзя. За помощью обратитесь в службу поддержки.',
    },
    registration_closed: {
      title: 'С этим номером войти нельзя',
      text: 'Сейчас новые аккаунты не открываются. Если у вас есть аккаунт, войдите с его номером.',
    },
    too_many_requests: {
      title: 'Слишком много запросов',
      text: 'Для общей безопасности просим вас немного подождать.',
    },
    sms_unavailable: {
      title: 'Сейчас не получается отправить SMS',
      text: 'Мы уже разбираемся. Пожалуйста, попробуйте ещё раз через несколько минут.',
    },
    fault: {
      title: 'Что-то пошло не так',
      text: 'Проблема на нашей стороне. Пожалуйста, попробуйте ещё раз чуть позже.',
    },
  },
  tryAgainIn: (waitSeconds) => `Пожалуйста, попробуйте ещё раз через ${ruDuration(waitSeconds)}.`,
  actions: {
    startAgain: 'Начать заново',
    anotherNumber: 'Войти с другим номером',
    backTo: (client) => `Вернуться в «${client}»`,
  },
  logout: {
    title: 'Выйти из аккаунта?',
    text: `Вы выйдете из всех сервисов, в которые вошли через ${productName} в этом браузере.`,
    account: (phone) => `Аккаунт: ${phone}`,
    submit: 'Выйти',
    stay: 'Остаться в аккаунте',
    doneTitle: 'Вы вышли из аккаунта',
    doneText: 'Эту страницу можно закрыть.',
  },
};

type RussianForms = Record<'one' | 'few' | 'many', string>;
const ruUnits = {
  second: { one: 'секунду', few: 'секунды', many: 'секунд' },
  minute: { one: 'минуту', few: 'минуты', many: 'минут' },
  hour: { one: 'час', few: 'часа', many: 'часов' },
  hourGenitive: { one: 'часа', few: 'часов', many: 'часов' },
  attempt: { one: 'попытка', few: 'попытки', many: 'попыток' },
} satisfies Record<string, RussianForms>;
const ruRules = new Intl.PluralRules('ru');

function ruDuration(seconds: number): string {
  const { count, unit } = inWords(seconds);
  return ruCount(count, ruUnits[unit]);
}

function ruCount(count: number, forms: RussianForms): string {
  return `${count} ${forms[ruForm(count)]}`;
}

function ruAttempts(count: number): string {
  return `${ruForm(count) === 'one' ? 'Осталась' : 'Осталось'} ${ruCount(count, ruUnits.attempt)}`;
}

function ruForm(count: number): keyof RussianForms {
  const form = ruRules.select(count);
  return form === 'one' || form === 'few' ? form : 'many';
}
