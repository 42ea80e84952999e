/** The languages of the pages and mails. English is complete; the others have its type. */
export const languages = ['en', 'fr'] as const
export type Language = (typeof languages)[number]

/** Each in its own words, as the switch shows them. */
export const languageNames: Readonly<Record<Language, string>> = { en: 'English', fr: 'Français' }

/** What dates and numbers are written by: times of 24 hours, the day before the month. */
export const localeOf: Readonly<Record<Language, string>> = { en: 'en-GB', fr: 'fr-FR' }

/** @returns undefined for what is not one of ours */
export const asLanguage = (text: string | undefined): Language | undefined =>
  languages.find((language) => language === text)
