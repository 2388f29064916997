import type { ComponentChildren } from "preact";

/** A table that is scrolled sideways where it is wider than the screen. */
export function WideTable(props: { label: string; class?: string; children: ComponentChildren }) {
  const { label, children } = props;
  return (
    <div class={`wide-table ${props.class ?? ""}`} role="region" aria-label={label} tabIndex={0}>
      <table class="scores">{children}</table>
    </div>
  );
}
