// What is wrong with a form that was posted: beside each field, and once above all of them.
import { html } from 'ghtml';

/** Messages by field, as the API's `details` has them; anything not about a field under `form`. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** Attributes that tie a control to its message. */
export function describedByError(field: string, errors: FieldErrors): string {
  return errors[field] === undefined ? '' : html`aria-invalid="true" aria-describedby="${field}-error"`;
}

/** The message of a field; nothing where it has none. */
export function fieldError(field: string, errors: FieldErrors): string {
  const messages = errors[field];
  return messages === undefined
    ? ''
    : html`<p class="field-error" id="${field}-error" data-field-error>${messages.join(' ')}</p>`;
}

/** The message above the form, there and hidden while nothing is wrong so that a script can fill it in. */
export function formError(errors: FieldErrors, whenFieldsOnly: string): string {
  const failed = Object.keys(errors).length > 0;
  const text = errors.form?.join(' ') ?? whenFieldsOnly;
  return html`<div class="notice error" role="alert" data-form-error !${failed ? '' : 'hidden'}>${failed ? text : ''}</div>`;
}
