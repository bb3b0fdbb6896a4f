// Additions to the theme for people who use a keyboard or a screen reader.
document.addEventListener("DOMContentLoaded", () => {
  const labels = { "sidebar-drawer": "Menu", "toc-drawer": "On this page" };
  for (const [name, label] of Object.entries(labels)) {
    document.querySelector(`aside.${name}`)?.setAttribute("aria-label", label);
  }
  for (const head of document.querySelectorAll("th")) {
    if (!head.textContent.trim()) head.replaceWith(document.createElement("td"));
  }
  if (!document.querySelector("h1")) {
    const title = document.createElement("h1");
    title.textContent = document.title.split(" - ")[0];
    document.querySelector("article, main")?.prepend(title);
  }
  for (const wide of document.querySelectorAll("pre, .table-wrapper")) wide.tabIndex = 0;
});
