// Light, dark, or as the system has it.

const ORDER = ["system", "light", "dark"];
const PLACE = "dissensus theme";

/** Makes `button` go round the themes; the choice outlives the page where the browser lets it. */
export function themeButton(button) {
  let theme = ORDER.includes(stored()) ? stored() : "system";
  const show = () => {
    if (theme === "system") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  button.addEventListener("click", () => {
    theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];
    try {
      localStorage.setItem(PLACE, theme);
    } catch {
      // A browser that stores nothing still shows what was chosen.
    }
    show();
  });
  show();
}

function stored() {
  try {
    return localStorage.getItem(PLACE);
  } catch {
    return null;
  }
}
