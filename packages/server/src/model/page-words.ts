/**
 * All texts of an answer page that are not data, with their defaults. A text in braces, such as
 * `{time}`, is the place of a value.
 */
// #region words
export const defaultPageWords = {
  // The form.
  decisionNeeded: 'Your decision is needed',
  optional: '{label} (optional)',
  approve: 'Approve',
  deny: 'Deny',

  // The values before they are recorded.
  approveThis: 'Approve this?',
  denyThis: 'Deny this?',
  nothingRecorded: 'Nothing is recorded yet. You cannot change your answer afterwards.',
  confirmApproval: 'Yes, approve',
  confirmDenial: 'Yes, deny',
  change: 'Change',
  yes: 'Yes',
  no: 'No',
  empty: 'empty',

  // The receipt.
  approved: 'You approved',
  denied: 'You denied',
  recorded: 'Your answer was recorded on {time}.',

  // The same, to somebody who may not be the person who answered.
  wasApproved: 'Approved',
  wasDenied: 'Denied',
  wasRecorded: 'An answer was recorded on {time}.',

  // Who asks whom.
  service: 'Service',
  request: 'Request',
  startedBy: 'Started by',
  anonymous: 'somebody who is not signed in',
  youAre: 'You are',
  notSignedIn: 'not signed in',
  answerUntil: 'Answer until',
  time: '{time} UTC',

  // Why an answer was not recorded.
  notRecorded: 'Your answer was not recorded.',
  correctFields: 'Correct the marked fields.',
  tooLong: 'It is too long. Shorten it by about {excess} characters, and send it again.',
  noRoomTitle: 'No room',
  noRoom:
    'The request has no room for your answer, which was not recorded. Tell the person who sent you this link.',
  tooMuchTitle: 'Too much text',
  tooMuch: 'Your answer was not recorded. Go back, shorten it, and send it again.',
  noDecisionTitle: 'No decision',
  noDecision: 'Open the link again, and choose a button.',
  otherPageTitle: 'Not sent from this page',
  otherPage:
    'Your answer was not recorded. Open the link that you were sent, and answer on its page.',

  // Errors of fields.
  fillIn: 'Fill in this field.',
  chooseOnce: 'Choose once.',
  chooseOption: 'Choose one of the options.',
  chooseAtLeast: 'Choose at least {least}.',
  chooseAtMost: 'Choose at most {most}.',
  enterOne: 'Enter one value.',
  enterNumber: 'Enter a number.',
  enterWholeNumber: 'Enter a whole number.',
  enterNumberFrom: 'Enter a number from {least}.',
  enterNumberUpTo: 'Enter a number up to {most}.',
  enterAtLeast: 'Enter at least {least} characters.',
  enterAtMost: 'Enter at most {most} characters.',
  enterEmail: 'Enter an email address.',
  enterUrl: 'Enter a URL, such as https://shop.example.',
  enterDate: 'Enter a date, such as 2027-01-31.',
  enterTime: 'Enter a time, such as 2027-01-31T12:00:00Z.',

  // Why nobody can answer any more.
  outdatedTitle: 'Outdated link',
  outdated: 'The request has changed since this link was sent. Use the newest link.',
  outdatedAnswered: 'Your answer to the earlier request was recorded, but does not count.',
  withdrawnTitle: 'Withdrawn',
  withdrawn: 'This request was withdrawn before it was decided.',
  withdrawnAnswered: 'Your answer was recorded, but has no effect.',
  usedTitle: 'Used',
  used: 'Someone has already answered with this link.',
  closedTitle: 'Closed',
  closed: 'This request needs no more answers.',
  tooLateTitle: 'Too late',
  tooLate: 'The time to answer is over.',

  // Why a link is refused.
  signInTitle: 'Sign in to answer',
  signIn:
    'Only people who are signed in can answer. Sign in to {service}, and open this link again.',
  notYoursTitle: 'You may not answer',
  notYours: 'This request is for other people, and nobody can decide on their own request.',
  signedInAs: 'You are signed in as {user}.',
  signInAsOther: 'Sign in as a person who may answer, and open this link again.',
  invalidTitle: 'Invalid link',
  invalid: 'This link is invalid. Ask for a new one.',
  notNowTitle: 'Not now',
  notNow: 'Open the link again later to see if you have answered.',
  notAllowedTitle: 'Not allowed',
  notAllowed: 'Open the link in a browser.',
} as const;
// #endregion words

/** Texts of an answer page, by their names. */
export type PageWords = { readonly [name in keyof typeof defaultPageWords]: string };
